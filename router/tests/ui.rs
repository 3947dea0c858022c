//! The compiler's messages for mistakes of users, on the pinned toolchain.

#[test]
fn mistakes_are_told_in_the_authors_terms() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
