//! Global memory as one range of blocks sees it: the buffers as they were at launch, plus its own writes.
//!
//! Ranges of blocks run in parallel, each on a view of its own. Pages are copied on their first write, so views
//! never see each other. When all have run, [`commit`] looks whether any range touched what another one wrote.
//! If not, running the ranges one after another would have given the same, and the written words are put back
//! into the buffers. If so, nothing has been changed yet, and the launch runs again on a single view.

use std::ops::Range;

use super::device::Buffer;
use super::window;
use crate::exec::{Layout, Located};

pub(crate) const PAGE: usize = 4096;
const WORDS: usize = PAGE / 4;
const SECTOR: usize = 32;

/// A private copy of a page.
struct Page {
    buffer: u32,
    number: u32,
    data: Box<[u8; PAGE]>,
    /// As [`Buffer::valid`].
    valid: Option<Box<[u8; PAGE]>>,
    /// A bit for each 4-byte word that was written.
    written: [u32; WORDS / 32],
}

/// Which pages of a buffer are private, and which sectors were read.
struct Table {
    /// Index into `pages` plus 1; 0 is the page as it was at launch.
    slots: Vec<u32>,
    /// A bit for each sector that was read, 2 words of bits a page; empty unless tracked.
    read: Vec<u64>,
    /// Whether any slot is private.
    dirty: bool,
}

/// Where bytes of a buffer are on the host.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) buffer: usize,
    pub(crate) offset: usize,
    length: usize,
    /// As in [`Table::slots`].
    slot: u32,
}

/// See the module.
pub(crate) struct View<'a> {
    buffers: &'a [Buffer],
    tables: Vec<Table>,
    pages: Vec<Page>,
    track: bool,
}

/// Two ranges of blocks touched the same memory, and one of them wrote.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Conflict;

impl<'a> View<'a> {
    /// A view without writes. `track`: remember reads, for [`commit`] to compare with other views.
    pub(crate) fn new(buffers: &'a [Buffer], track: bool) -> View<'a> {
        let table = |buffer: &Buffer| {
            let pages = buffer.data.len().div_ceil(PAGE);
            Table {
                slots: vec![0; pages],
                read: vec![0; if track { pages * PAGE / SECTOR / 64 } else { 0 }],
                dirty: false,
            }
        };
        View { buffers, tables: buffers.iter().map(table).collect(), pages: Vec::new(), track }
    }

    /// The buffer and offset of an access of `bytes` bytes at `address`, if it lies wholly in a buffer.
    #[inline(always)]
    pub(crate) fn locate(&self, address: u64, bytes: u64) -> Option<(usize, usize)> {
        let (buffer, offset) = window::buffer_offset(address)?;
        let length = self.buffers.get(buffer)?.data.len() as u64;
        (offset >= 0 && offset as u64 + bytes <= length).then_some((buffer, offset as usize))
    }

    /// Where the buffer nearest to `address` begins, and the last offset at which an access of `bytes` bytes fits.
    /// `None` if there is no buffer, or it is too small.
    #[inline(always)]
    pub(crate) fn bounds(&self, address: u64, bytes: u64) -> Option<(u64, u64)> {
        let (buffer, offset) = window::buffer_offset(address)?;
        let last = (self.buffers.get(buffer)?.data.len() as u64).checked_sub(bytes)?;
        Some((address.wrapping_sub(offset as u64), last))
    }

    /// Where the bytes of lanes are that lie as `layout` says, the first active one's at address `first`, if they are
    /// side by side on the host.
    #[inline(always)]
    pub(crate) fn find_row(&self, layout: &Layout, first: u64) -> Option<Place> {
        // Looking at all pages between them is not worth it if they are far apart.
        if layout.span > 1 << 20 {
            return None;
        }
        let length = layout.span + layout.width();
        let (buffer, offset) = self.locate(first.wrapping_add(layout.low), length)?;
        self.find(buffer, offset, length as usize)
    }

    /// The bytes of such lanes; remembers that they were read.
    #[inline(always)]
    pub(crate) fn read_row<'m>(&'m mut self, layout: &'m Layout, place: Place) -> Option<Located<'m>> {
        if self.track {
            self.mark(place.buffer, place.offset, &layout.runs);
        }
        let (data, valid) = self.bytes(place);
        Located::new(layout, layout.low.wrapping_neg(), [0, 0], data, valid)
    }

    /// Where `length` bytes (one at least) from `offset` are, if they lie side by side on the host.
    #[inline(always)]
    fn find(&self, buffer: usize, offset: usize, length: usize) -> Option<Place> {
        let table = &self.tables[buffer];
        let (first, last) = (offset / PAGE, (offset + length - 1) / PAGE);
        let mut slot = 0;
        if table.dirty {
            slot = table.slots[first];
            if first != last && table.slots[first..=last].iter().any(|&slot| slot != 0) {
                return None;
            }
        }
        Some(Place { buffer, offset, length, slot })
    }

    /// The bytes at a place, and their validity (`None`: all valid).
    #[inline(always)]
    fn bytes(&self, place: Place) -> (&[u8], Option<&[u8]>) {
        let Place { buffer, offset, length, slot } = place;
        if let Some(page) = slot.checked_sub(1) {
            let (page, at) = (&self.pages[page as usize], offset % PAGE);
            return (&page.data[at..at + length], page.valid.as_ref().map(|v| &v[at..at + length]));
        }
        let (base, range) = (&self.buffers[buffer], offset..offset + length);
        (&base.data[range.clone()], base.valid.as_ref().map(|v| &v[range]))
    }

    /// Copies bytes out, and says which are valid. `into` and `valid` have the same length.
    pub(crate) fn read(&self, buffer: usize, offset: usize, into: &mut [u8], valid: &mut [u8]) {
        let mut done = 0;
        while done < into.len() {
            let at = offset + done;
            let length = (PAGE - at % PAGE).min(into.len() - done);
            if let Some(place) = self.find(buffer, at, length) {
                let (data, mask) = self.bytes(place);
                into[done..done + length].copy_from_slice(data);
                match mask {
                    Some(mask) => valid[done..done + length].copy_from_slice(mask),
                    None => valid[done..done + length].fill(0xff),
                }
            }
            done += length;
        }
    }

    /// Remembers that `length` bytes from `offset` were read.
    #[inline(always)]
    pub(crate) fn mark_read(&mut self, buffer: usize, offset: usize, length: usize) {
        if self.track {
            self.mark(buffer, offset, &[(0, length)]);
        }
    }

    #[inline(always)]
    fn mark(&mut self, buffer: usize, from: usize, runs: &[(usize, usize)]) {
        let read = self.tables[buffer].read.as_mut_slice();
        for &(offset, length) in runs {
            let (first, last) = ((from + offset) / SECTOR, (from + offset + length - 1) / SECTOR);
            if first / 64 == last / 64 {
                read[first / 64] |= u64::MAX >> (63 - (last - first)) << (first % 64);
            } else {
                (first..=last).for_each(|sector| read[sector / 64] |= 1 << (sector % 64));
            }
        }
    }

    /// Writes bytes within one page.
    #[inline(always)]
    fn write_in_page(&mut self, buffer: usize, offset: usize, bytes: &[u8]) {
        let number = offset / PAGE;
        let slot = match self.tables[buffer].slots[number] {
            0 => self.make_private(buffer, number),
            slot => slot as usize - 1,
        };
        let page = &mut self.pages[slot];
        let at = offset % PAGE;
        page.data[at..at + bytes.len()].copy_from_slice(bytes);
        if let Some(valid) = &mut page.valid {
            valid[at..at + bytes.len()].fill(0xff);
        }
        for word in at / 4..=(at + bytes.len() - 1) / 4 {
            page.written[word / 32] |= 1 << (word % 32);
        }
    }

    /// Writes bytes; they become valid.
    #[inline(always)]
    pub(crate) fn write(&mut self, buffer: usize, offset: usize, bytes: &[u8]) {
        let room = PAGE - offset % PAGE;
        if bytes.len() <= room {
            return self.write_in_page(buffer, offset, bytes);
        }
        self.write_in_page(buffer, offset, &bytes[..room]);
        self.write(buffer, offset + room, &bytes[room..]);
    }

    #[cold]
    fn make_private(&mut self, buffer: usize, number: usize) -> usize {
        let base = &self.buffers[buffer];
        let start = number * PAGE;
        let end = base.data.len().min(start + PAGE);
        let copy = |from: &[u8]| {
            let mut page = Box::new([0; PAGE]);
            page[..end - start].copy_from_slice(&from[start..end]);
            page
        };
        self.pages.push(Page {
            buffer: buffer as u32,
            number: number as u32,
            data: copy(&base.data),
            valid: base.valid.as_deref().map(copy),
            written: [0; WORDS / 32],
        });
        let table = &mut self.tables[buffer];
        table.slots[number] = self.pages.len() as u32;
        table.dirty = true;
        self.pages.len() - 1
    }

    fn page(&self, buffer: u32, number: u32) -> Option<&Page> {
        let slot = self.tables[buffer as usize].slots[number as usize];
        (slot != 0).then(|| &self.pages[slot as usize - 1])
    }

    /// Whether this view read or wrote what `page`, of another view, wrote.
    fn touches(&self, page: &Page) -> bool {
        let table = &self.tables[page.buffer as usize];
        let read = &table.read[page.number as usize * 2..][..2];
        let reads_it = (0..WORDS / 32).any(|i| {
            // Word i of the written bits covers 32 words, that is 4 sectors.
            let sectors = read[i / 16] >> (i % 16 * 4);
            page.written[i] != 0
                && (0..4).any(|s| sectors >> s & 1 != 0 && page.written[i] >> (8 * s) & 0xff != 0)
        });
        reads_it
            || self
                .page(page.buffer, page.number)
                .is_some_and(|own| own.written.iter().zip(&page.written).any(|(a, b)| a & b != 0))
    }

    /// Takes the written pages out, so that the buffers can be borrowed again.
    fn into_writes(self) -> Writes {
        Writes(self.pages)
    }
}

/// The pages a view wrote.
pub(crate) struct Writes(Vec<Page>);

impl Writes {
    /// Puts the written words into the buffers.
    pub(crate) fn apply(&self, buffers: &mut [Buffer]) {
        for page in &self.0 {
            let buffer = &mut buffers[page.buffer as usize];
            let start = page.number as usize * PAGE;
            for words in runs(&page.written) {
                let (from, to) = (4 * words.start, (4 * words.end).min(buffer.data.len() - start));
                buffer.data[start + from..start + to].copy_from_slice(&page.data[from..to]);
                if let (Some(valid), Some(new)) = (&mut buffer.valid, &page.valid) {
                    valid[start + from..start + to].copy_from_slice(&new[from..to]);
                }
            }
        }
    }
}

/// The runs of bits that are set.
fn runs(bits: &[u32; WORDS / 32]) -> impl Iterator<Item = Range<usize>> {
    let next = |from: usize, wanted: u32| -> usize {
        let mut at = from;
        while at < WORDS {
            let left = (bits[at / 32] ^ wanted.wrapping_sub(1)) >> (at % 32);
            if left != 0 {
                return at + left.trailing_zeros() as usize;
            }
            at = (at / 32 + 1) * 32;
        }
        WORDS
    };
    let mut end = 0;
    std::iter::from_fn(move || {
        let start = next(end, 1);
        end = next(start, 0);
        (start < WORDS).then_some(start..end)
    })
}

/// Gathers the writes of all views, in order.
///
/// # Errors
/// [`Conflict`] if one view touched what another wrote.
pub(crate) fn commit(views: Vec<View<'_>>) -> Result<Vec<Writes>, Conflict> {
    for (i, writer) in views.iter().enumerate() {
        for (j, other) in views.iter().enumerate() {
            if i != j && writer.pages.iter().any(|page| other.touches(page)) {
                return Err(Conflict);
            }
        }
    }
    Ok(views.into_iter().map(View::into_writes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffers() -> Vec<Buffer> {
        vec![Buffer { name: "a".into(), data: vec![7; 3 * PAGE - 100], valid: Some(vec![0; 3 * PAGE - 100]) }]
    }

    #[test]
    fn a_view_sees_its_own_writes_only() {
        let buffers = buffers();
        let (mut one, two) = (View::new(&buffers, true), View::new(&buffers, true));
        one.write(0, PAGE - 2, &[1, 2, 3, 4]);
        let (mut data, mut valid) = ([0; 6], [0; 6]);
        one.read(0, PAGE - 3, &mut data, &mut valid);
        assert_eq!((data, valid), ([7, 1, 2, 3, 4, 7], [0, 255, 255, 255, 255, 0]));
        two.read(0, PAGE - 3, &mut data, &mut valid);
        assert_eq!((data, valid), ([7; 6], [0; 6]));
    }

    #[test]
    fn disjoint_writes_commit() {
        let mut buffers = buffers();
        let (mut one, mut two) = (View::new(&buffers, true), View::new(&buffers, true));
        one.write(0, 0, &[1; 4]);
        one.mark_read(0, 32, 4);
        two.write(0, 4, &[2; 4]);
        let writes = commit(vec![one, two]).expect("no conflict");
        writes.iter().for_each(|w| w.apply(&mut buffers));
        assert_eq!(buffers[0].data[..9], [1, 1, 1, 1, 2, 2, 2, 2, 7]);
    }

    #[test]
    fn a_read_or_write_of_what_another_wrote_is_a_conflict() {
        let buffers = buffers();
        for (read, offset, conflict) in
            [(true, 0, true), (true, 64, false), (false, 0, true), (false, 4, false)]
        {
            let (mut one, mut two) = (View::new(&buffers, true), View::new(&buffers, true));
            one.write(0, 0, &[1; 4]);
            if read {
                two.mark_read(0, offset, 4)
            } else {
                two.write(0, offset, &[2; 4])
            }
            assert_eq!(commit(vec![two, one]).is_err(), conflict, "read {read} at {offset}");
        }
    }

    #[test]
    fn runs_of_written_words() {
        let mut bits = [0; WORDS / 32];
        for word in (0..3).chain(31..97).chain([200]).chain(1000..WORDS) {
            bits[word / 32] |= 1 << (word % 32);
        }
        assert_eq!(runs(&bits).collect::<Vec<_>>(), [0..3, 31..97, 200..201, 1000..WORDS]);
        let mut all = runs(&[u32::MAX; WORDS / 32]);
        assert_eq!((all.next(), all.next()), (Some(0..WORDS), None));
        assert_eq!(runs(&[0; WORDS / 32]).count(), 0);
    }
}
