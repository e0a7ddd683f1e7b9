//! Enumerations whose values have names: on the command line, in scene files and in reports.

/// A row of a table: the name of a value, its description in a line without a period, the value.
pub type Row<T> = (&'static str, &'static str, T);

/// An enumeration whose values have names.
pub trait Named: Copy + PartialEq + 'static {
    /// A row for each value, in the order of the help.
    const TABLE: &'static [Row<Self>];

    /// Returns the name of the value; empty for one that the table lacks.
    fn name(self) -> &'static str {
        Self::TABLE.iter().find(|row| row.2 == self).map_or("", |row| row.0)
    }

    /// The value of that name.
    fn named(name: &str) -> Option<Self> {
        Self::TABLE.iter().find(|row| row.0 == name).map(|row| row.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Side {
        Left,
        Right,
        Neither,
    }

    impl Named for Side {
        const TABLE: &'static [Row<Self>] =
            &[("left", "The left side", Self::Left), ("right", "The right side", Self::Right)];
    }

    #[test]
    fn values_and_names_are_found_in_the_table() {
        assert_eq!((Side::Right.name(), Side::Neither.name()), ("right", ""));
        assert_eq!((Side::named("left"), Side::named("neither")), (Some(Side::Left), None));
    }
}
