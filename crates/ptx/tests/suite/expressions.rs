//! Number literals and constant expressions.

use ptx::Operand;

use crate::operands;

#[track_caller]
fn value(text: &str) -> Operand {
    operands(&format!("op {text};")).remove(0)
}

#[test]
fn integers_in_every_radix() {
    for (text, wanted) in [
        ("0", 0),
        ("0U", 0),
        ("42", 42),
        ("42U", 42),
        ("0x1F", 31),
        ("0XfFu", 255),
        ("0b101", 5),
        ("0B11U", 3),
        ("017", 15),
        ("00", 0),
        ("9223372036854775807", i128::from(i64::MAX)),
        ("9223372036854775808", 1 << 63),
        ("0xFFFFFFFFFFFFFFFF", i128::from(u64::MAX)),
        ("WARP_SZ", 32),
    ] {
        assert_eq!(value(text), Operand::Integer(wanted), "{text}");
    }
}

#[test]
fn floats_are_bits() {
    assert_eq!(value("0f3F800000"), Operand::Single(0x3F80_0000));
    assert_eq!(value("0Fff800000"), Operand::Single(0xFF80_0000));
    assert_eq!(value("0d400921FB54442D18"), Operand::Double(0x4009_21FB_5444_2D18));
    assert_eq!(value("0D7ff0000000000001"), Operand::Double(0x7FF0_0000_0000_0001));
    for (text, wanted) in [
        ("1.5", 1.5),
        ("2.", 2.0),
        (".25", 0.25),
        ("1e3", 1e3),
        ("1.5E-3", 1.5e-3),
        ("0.5e+2", 50.0),
        ("0e0", 0.0),
    ] {
        assert_eq!(value(text), Operand::Double(f64::to_bits(wanted)), "{text}");
    }
}

#[test]
fn signs_of_floats() {
    assert_eq!(value("-0f3F800000"), Operand::Single(0xBF80_0000));
    assert_eq!(value("-1.5"), Operand::Double((-1.5f64).to_bits()));
    assert_eq!(value("1.0 - 2.0 * 3.0"), Operand::Double((-5.0f64).to_bits()));
}

#[test]
fn operators_and_precedence() {
    for (text, wanted) in [
        ("-1", -1),
        ("+7", 7),
        ("-(-3)", 3),
        ("(1<<4)+3", 19),
        ("1<<4+3", 128),
        ("2+3*4", 14),
        ("(2+3)*4", 20),
        ("17/5", 3),
        ("-17 / 5", -3),
        ("-17 % 5", -2),
        ("0xF0 & 0x3C | 1", 0x31),
        ("6 ^ 3", 5),
        ("~0", -1),
        ("~0U", i128::from(u64::MAX)),
        ("!0", 1),
        ("!5", 0),
        ("! 5 + 1", 1),
        ("-8 >> 1", -4),
        ("0x8000000000000000 >> 63", 1),
        ("1 << 64", 0),
        ("-1 >> 70", -1),
        ("3 < 4", 1),
        ("-1 < 0U", 0),
        ("4 >= 5", 0),
        ("1 == 1 && 2 != 2", 0),
        ("0 || 7", 1),
        ("1 ? 10 : 20", 10),
        ("0 ? 10 : 0 ? 20 : 30", 30),
        ("(.u64) -1", i128::from(u64::MAX)),
        ("(.s64) 0xFFFFFFFFFFFFFFFF", -1),
        ("(.s64)0xFFFFFFFFFFFFFFFF + 2", 1),
        ("1.5 < 2.5", 1),
        ("WARP_SZ-1", 31),
        ("-0x7fffffffffffffff - 2", i128::from(i64::MAX)),
    ] {
        assert_eq!(value(text), Operand::Integer(wanted), "{text}");
    }
}
