//! Who is in the class, from the file that the instructor's own system exports: Canvas' gradebook, Moodle's
//! grading worksheet, Gradescope's roster, or any table with a column `id` or `student`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::class::Person;
use crate::label::clean;

/// Far more than a class of thousands needs.
const MOST_BYTES: u64 = 64 << 20;

/// Where a roster comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Canvas' gradebook export.
    Canvas,
    /// Moodle's grading worksheet.
    Moodle,
    /// Gradescope's roster.
    Gradescope,
    /// A table with a column `id` or `student`.
    Plain,
}

/// Everybody in the class, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    /// What the columns say it is.
    pub kind: Kind,
    /// The names of the columns.
    pub header: Vec<String>,
    /// Students.
    pub rows: Vec<Row>,
    /// Canvas' row of points, if there is one.
    pub points: Option<Vec<String>>,
    /// How many columns at the left say who somebody is (Canvas).
    pub info_columns: usize,
}

/// One student.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The student, with the id that imports use.
    pub person: Person,
    /// Other names by which the student may have handed in: logins, numbers.
    pub aliases: Vec<String>,
    /// All cells as they were.
    pub cells: Vec<String>,
}

/// Why a roster is of no use.
#[derive(Debug, thiserror::Error)]
pub enum RosterError {
    /// It cannot be read.
    #[error("the roster {path} cannot be read: {error}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// It is no table.
    #[error("the roster {path}: {reason}")]
    Format {
        /// The file.
        path: String,
        /// What is wrong, and where.
        reason: String,
    },
}

impl Roster {
    /// Reads a file.
    ///
    /// # Errors
    /// [`RosterError`], with the line.
    pub fn read(path: &Path) -> Result<Roster, RosterError> {
        use std::io::Read;
        let shown = path.display().to_string();
        let io = |error| RosterError::Io { path: shown.clone(), error };
        let mut bytes = Vec::new();
        std::fs::File::open(path).map_err(io)?.take(MOST_BYTES).read_to_end(&mut bytes).map_err(io)?;
        Roster::parse(&bytes).map_err(|reason| RosterError::Format { path: shown, reason })
    }

    /// Reads the text of such a file.
    ///
    /// # Errors
    /// What is wrong, and in which line.
    pub fn parse(bytes: &[u8]) -> Result<Roster, String> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
            format!("line {line} is not UTF-8; export it as CSV in UTF-8")
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        // Canvas writes semicolons where commas are decimal points.
        let first = text.lines().next().unwrap_or_default();
        let delimiter = if first.matches(';').count() > first.matches(',').count() { b';' } else { b',' };
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(text.as_bytes());
        let mut records = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| error.to_string())?;
            let line = record.position().map_or(0, csv::Position::line);
            records.push((line, record.iter().map(str::to_owned).collect::<Vec<String>>()));
        }
        let mut records = records.into_iter();
        let header = records.next().map(|(_, cells)| cells).ok_or("it is empty")?;
        let columns = Columns::of(&header).ok_or(
            "its columns are those of no roster: give Canvas' gradebook export, Moodle's grading worksheet, \
             Gradescope's roster, or a table with a column `id` or `student`",
        )?;
        let mut roster =
            Roster { kind: columns.kind, header, rows: Vec::new(), points: None, info_columns: columns.info };
        let mut seen = BTreeMap::new();
        for (line, cells) in records {
            if columns.kind == Kind::Canvas {
                // A name may hold these words, too; a student has an id.
                let has_id = cells.get(columns.id).is_some_and(|id| !id.trim().is_empty());
                if !has_id && cells.first().is_some_and(|first| first.contains("Points Possible")) {
                    roster.points = Some(cells);
                    continue;
                }
                if !has_id && cells.iter().all(|cell| says_nothing(cell)) {
                    continue;
                }
            }
            let Some(row) = columns.row(cells) else {
                return Err(format!("line {line} has no {}", roster.header[columns.id]));
            };
            if let Some(before) = seen.insert(row.person.id.clone(), line) {
                return Err(format!("line {line} has the same student as line {before}: {}", row.person.id));
            }
            roster.rows.push(row);
        }
        Ok(roster)
    }

    /// For each student of the roster, the id of the person that they handed in as, if any; and the people
    /// who are not in it. An id decides, then an e-mail address, then a login.
    pub fn join<'a>(
        &self,
        people: &'a BTreeMap<String, Person>,
    ) -> (Vec<Option<&'a Person>>, Vec<&'a Person>) {
        let by_email: BTreeMap<String, &Person> = people
            .values()
            .filter_map(|person| Some((person.email.as_ref()?.to_lowercase(), person)))
            .collect();
        let mut joined = BTreeSet::new();
        let found: Vec<Option<&Person>> = self
            .rows
            .iter()
            .map(|row| {
                let by_id = people.get(&row.person.id);
                let email = row.person.email.as_ref().map(|email| email.to_lowercase());
                let by_email = || email.as_ref().and_then(|email| by_email.get(email).copied());
                // Of a folder, the name may be anything that the student is known by.
                let by_alias =
                    || row.aliases.iter().chain(&row.person.email).find_map(|alias| people.get(alias));
                let person = by_id.or_else(by_email).or_else(by_alias)?;
                joined.insert(person.id.as_str());
                Some(person)
            })
            .collect();
        let others = people.values().filter(|person| !joined.contains(person.id.as_str())).collect();
        (found, others)
    }

    /// The ids in it.
    pub fn ids(&self) -> BTreeSet<String> {
        self.rows.iter().map(|row| row.person.id.clone()).collect()
    }
}

/// What a row below the header has of assignments that are not posted: `/^\s*(Muted|Manual
/// Posting.*)?\s*$/i`.
fn says_nothing(cell: &str) -> bool {
    let cell = cell.trim().to_lowercase();
    cell.is_empty() || cell == "muted" || cell.starts_with("manual posting")
}

/// Which column says what.
struct Columns {
    kind: Kind,
    id: usize,
    /// One, or last and first.
    name: Vec<usize>,
    email: Option<usize>,
    aliases: Vec<usize>,
    info: usize,
}

impl Columns {
    fn of(header: &[String]) -> Option<Columns> {
        let plain = |text: &str| text.trim().to_lowercase();
        let find = |names: &[&str]| {
            names.iter().find_map(|name| header.iter().position(|column| plain(column) == *name))
        };
        let has = |index: usize, text: &str| header.get(index).is_some_and(|column| column.contains(text));
        // As `row_has_student_headers?` and `update_column_count` of Canvas' `lib/gradebook_importer.rb`.
        let split_names = header.len() > 4 && has(0, "LastName") && has(1, "FirstName") && has(2, "ID");
        if split_names || header.len() > 3 && has(0, "Student") && has(1, "ID") {
            let id = if split_names { 2 } else { 1 };
            let section = header.iter().position(|column| plain(column) == "section");
            let aliases: Vec<usize> =
                ["sis user id", "sis login id"].iter().filter_map(|name| find(&[name])).collect();
            let info = section.map_or(id + 2, |section| section + 1);
            let name = if split_names { vec![1, 0] } else { vec![0] };
            return Some(Columns { kind: Kind::Canvas, id, name, email: None, aliases, info });
        }
        if let Some(id) = find(&["identifier"]) {
            let (name, email) = (find(&["full name"]).into_iter().collect(), find(&["email address"]));
            let aliases = find(&["username", "id number"]).into_iter().collect();
            return Some(Columns { kind: Kind::Moodle, id, name, email, aliases, info: 0 });
        }
        if let (Some(id), Some(email)) = (find(&["sid"]), find(&["email"])) {
            let name = ["first name", "last name", "name"].iter().filter_map(|name| find(&[name])).collect();
            return Some(Columns {
                kind: Kind::Gradescope,
                id,
                name,
                email: Some(email),
                aliases: Vec::new(),
                info: 0,
            });
        }
        let id = find(&["id", "student", "student id", "username", "login"])?;
        let name = find(&["name", "full name"]).into_iter().collect();
        Some(Columns {
            kind: Kind::Plain,
            id,
            name,
            email: find(&["email", "e-mail", "email address"]),
            aliases: Vec::new(),
            info: 0,
        })
    }

    fn row(&self, cells: Vec<String>) -> Option<Row> {
        let cell = |index: usize| cells.get(index).map(|cell| clean(cell)).filter(|cell| !cell.is_empty());
        let email = self.email.and_then(cell);
        let id = cell(self.id).map(|id| match self.kind {
            Kind::Moodle => id.strip_prefix("Participant ").map(str::to_owned).unwrap_or(id),
            _ => id,
        });
        let aliases: Vec<String> = self.aliases.iter().filter_map(|index| cell(*index)).collect();
        // A student number can be missing where an address is not.
        let id = id.or_else(|| aliases.first().cloned()).or_else(|| email.clone())?;
        let name: Vec<String> = self.name.iter().filter_map(|index| cell(*index)).collect();
        let name = if name.is_empty() { id.clone() } else { name.join(" ") };
        Some(Row { person: Person { id, name, email }, aliases, cells })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CANVAS: &str = "\u{feff}Student,ID,SIS User ID,SIS Login ID,Section,Transpose (88001),Final Score\r\n\
        ,,,,,Manual Posting,\r\n\
        \"    Points Possible\",,,,,10.00,(read only)\r\n\
        \"Simpson, Bart\",123,s1,bart,\"Sec, A\",,\r\n\
        \"Points Possible, Ann\",124,s2,ann,A,7,\r\n\
        \"Student, Test\",125,,,A,,\r\n";

    #[test]
    fn the_gradebook_of_canvas_is_a_roster() {
        let roster = Roster::parse(CANVAS.as_bytes()).expect("a roster");
        assert_eq!((roster.kind, roster.info_columns, roster.rows.len()), (Kind::Canvas, 5, 3));
        assert_eq!(roster.rows[0].person.id, "123");
        assert_eq!(roster.rows[0].cells[0], "Simpson, Bart");
        assert_eq!(roster.rows[1].person.name, "Points Possible, Ann");
        assert_eq!(roster.points.as_ref().expect("points")[5], "10.00");
        let semicolons = CANVAS.replace(',', ";").replace("Simpson; Bart", "Simpson, Bart");
        assert_eq!(Roster::parse(semicolons.as_bytes()).expect("a roster").rows.len(), 3);
    }

    #[test]
    fn other_systems_rosters_are_read() {
        let moodle =
            "Identifier,Full name,Email address,Status,Grade\nParticipant 88,이영희,lee@uni.example,,\n";
        let roster = Roster::parse(moodle.as_bytes()).expect("a roster");
        assert_eq!((roster.kind, roster.rows[0].person.id.as_str()), (Kind::Moodle, "88"));
        let gradescope = "First Name,Last Name,SID,Email,Sections\n\
                          Young-Hee,Lee,42,lee@uni.example,\nNo,Number,,no@uni.example,\n";
        let roster = Roster::parse(gradescope.as_bytes()).expect("a roster");
        assert_eq!(roster.rows[0].person.name, "Young-Hee Lee");
        assert_eq!(roster.rows[1].person.id, "no@uni.example");
        let plain = Roster::parse(b"student,name\nkim,Kim\n").expect("a roster");
        assert_eq!((plain.kind, plain.rows[0].person.name.as_str()), (Kind::Plain, "Kim"));
    }

    #[test]
    fn what_is_no_roster_says_what_would_be_and_where_it_is_wrong() {
        for (text, phrase) in [
            (&b""[..], "empty"),
            (b"a,b\n1,2\n", "`id` or `student`"),
            (b"id,name\nkim,a\nkim,b\n", "line 3 has the same student as line 2"),
            (b"id,name\n,a\n", "line 2 has no id"),
            (b"id,name\nkim,caf\xe9\n", "line 2 is not UTF-8"),
        ] {
            let error = Roster::parse(text).expect_err("no roster");
            assert!(error.contains(phrase), "{error}");
        }
    }

    #[test]
    fn people_are_joined_by_id_then_address_then_login() {
        let roster = Roster::parse(b"id,name,email\n1,A,a@x\n2,B,B@x\n3,C,c@x\n").expect("a roster");
        let person = |id: &str, email: Option<&str>| {
            (id.to_owned(), Person { id: id.into(), name: id.into(), email: email.map(str::to_owned) })
        };
        let people = BTreeMap::from([
            person("1", None),
            person("submission_7", Some("b@x")),
            person("stranger", None),
            person("c@x", None),
        ]);
        let (found, others) = roster.join(&people);
        let ids: Vec<Option<&str>> =
            found.iter().map(|person| person.map(|person| person.id.as_str())).collect();
        assert_eq!(ids, [Some("1"), Some("submission_7"), Some("c@x")]);
        assert_eq!(others.iter().map(|person| person.id.as_str()).collect::<Vec<_>>(), ["stranger"]);
    }
}
