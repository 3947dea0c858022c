use super::*;

fn allows(allowed: &Allowed, origin: &str) -> bool {
    allowed.takes_origin(&HeaderValue::from_str(origin).unwrap())
}

#[test]
fn loopback_origins_are_allowed_with_any_port_and_nothing_that_only_looks_like_one() {
    let allowed = Allowed::default();
    for origin in [
        "http://localhost",
        "http://localhost:6274",
        "https://127.0.0.1:9",
        "http://[::1]:5173",
        "HTTP://LOCALHOST:1",
    ] {
        assert!(allows(&allowed, origin), "{origin}");
    }
    for origin in [
        "null",
        "%%",
        "",
        "localhost",
        "http://localhost/",
        "http://localhost/path",
        "http://localhost/localhost",
        "http://localhost?localhost",
        "http://localhost#localhost",
        "http://user@localhost",
        "http://localhost.evil.example",
        "http://evil.example",
        "ftp://localhost",
        "http://localhost:",
        "http://localhost:99999",
        "http://localhost:+80",
        "http://127.0.0.1.evil.example",
        "file://",
        "http://localhost:80 http://evil.example",
    ] {
        assert!(!allows(&allowed, origin), "{origin}");
    }
}

#[test]
fn the_host_matters_on_loopback_and_wherever_one_was_allowed() {
    let checks = |allowed: &Allowed, local: &str| allowed.checks_host(Some(local.parse().unwrap()));
    let mut allowed = Allowed::default();
    // C106
    assert!(!allowed.checks_host(None), "a Unix socket");
    for (local, checked) in [
        ("127.0.0.1", true),
        ("127.0.0.53", true),
        ("::1", true),
        ("::ffff:127.0.0.1", true),
        ("172.17.0.2", false),
        ("::ffff:172.17.0.2", false),
        ("2001:db8::1", false),
    ] {
        assert_eq!(checks(&allowed, local), checked, "{local}");
    }
    assert_eq!(allowed.host("mcp.example"), Ok(()));
    assert!(checks(&allowed, "172.17.0.2"));
    allowed.any_host();
    assert!(!checks(&allowed, "127.0.0.1"));
}

#[test]
fn only_the_names_of_the_loopback_interface_are_taken_for_them() {
    for named in ["localhost", "LocalHost:80", "127.0.0.1:8080", "[::1]", "[::1]:1"] {
        assert!(is_loopback(named), "{named}");
    }
    for named in [
        "localhost.",
        "localhost.evil.example",
        "localhost@evil.example",
        "127.0.0.10",
        "localhost:a",
        "",
        "é",
    ] {
        assert!(!is_loopback(named), "{named}");
    }
}

#[test]
fn an_allowed_origin_is_compared_by_scheme_host_and_port() {
    let mut allowed = Allowed::default();
    assert_eq!(allowed.origin("https://App.example"), Ok(()));
    for (origin, taken) in [
        ("https://app.example", true),
        ("https://app.example:443", true),
        ("http://app.example", false),
        ("https://app.example:8443", false),
        ("https://app.example.evil.example", false),
        ("https://xapp.example", false),
    ] {
        assert_eq!(allows(&allowed, origin), taken, "{origin}");
    }
}

// C101
#[test]
fn an_origin_of_any_scheme_is_taken_where_it_is_named_and_only_there() {
    let origins = [
        "chrome-extension://abc",
        "moz-extension://7f5d2c3e-1111-2222-3333-444455556666",
        "safari-web-extension://0A1B",
        "vscode-webview://1q2w3e",
        "vscode-file://vscode-app",
        "tauri://localhost",
        "capacitor://localhost",
        "app://.",
        "app://obsidian.md",
        "file://",
        "com.example.shell+x://main:8000",
        "https://app.example:8443",
        "http://[2001:DB8:0::1]:80",
        "http://192.0.2.7",
        "http://localhost.",
    ];
    for (at, origin) in origins.iter().enumerate() {
        let mut allowed = Allowed::default();
        assert!(!allows(&allowed, origin), "{origin} by default");
        assert_eq!(allowed.origin(origin), Ok(()), "{origin}");
        for (other, sent) in origins.iter().enumerate() {
            assert_eq!(allows(&allowed, sent), at == other, "{sent} where {origin} is allowed");
            assert_eq!(allows(&allowed, &sent.to_ascii_uppercase()), at == other, "{sent}");
        }
    }
    let mut allowed = Allowed::default();
    allowed.origin("chrome-extension://abc").unwrap();
    for sent in [
        "chrome-extension://abcd",
        "chrome-extension://abc/",
        "chrome-extension://",
        "https://abc",
        "abc",
        "null",
    ] {
        assert!(!allows(&allowed, sent), "{sent}");
    }
    allowed.origin("http://[2001:db8::1]").unwrap();
    assert!(allows(&allowed, "http://[2001:0db8::0001]:80"), "one address in another spelling");
    allowed.any_origin();
    for sent in ["null", "%%", "", "https://evil.example"] {
        assert!(allows(&allowed, sent), "{sent}");
    }
}

// C101
#[test]
fn an_origin_that_no_request_can_have_is_not_allowed() {
    for origin in [
        "",
        "null",
        "NULL",
        "*",
        "https://*",
        "https://*.example",
        "https://app.example:*",
        "*://app.example",
        "app.example",
        "//app.example",
        "https:app.example",
        "https:/app.example",
        "https://",
        "https://app.example/",
        "https://app.example/path",
        "https://app.example?query",
        "https://app.example#fragment",
        "https://app.example\\",
        "https://user@app.example",
        "https://user:password@app.example",
        "https://app.example:",
        "https://app.example:0x50",
        "https://app.example:+443",
        "https://app.example:65536",
        "https://app.example:1:2",
        "https://app example",
        " https://app.example",
        "https://app.example ",
        "https://a.example,https://b.example",
        "https://a.example https://b.example",
        "https://b\u{fc}cher.example",
        "https://app%2eexample",
        "http://127.1",
        "http://0x7f.0.0.1",
        "http://2130706433",
        "http://[::1",
        "http://::1",
        "http://[localhost]",
        "1app://host",
        "blob:https://app.example",
        "chrome-extension://abc/",
        "chrome-extension://*",
        "file:///home",
    ] {
        assert!(Allowed::default().origin(origin).is_err(), "{origin:?}");
    }
}

// C101
#[test]
fn a_host_that_no_request_can_be_for_is_not_allowed() {
    for host in [
        "",
        "*",
        "*.example",
        "https://mcp.example",
        "mcp.example/",
        "mcp.example/mcp",
        "user@mcp.example",
        "mcp.example:x",
        "mcp.example:65536",
        "mcp example",
        "b\u{fc}cher.example",
        "[mcp.example]",
        "::1",
    ] {
        assert!(Allowed::default().host(host).is_err(), "{host:?}");
    }
    let mut allowed = Allowed::default();
    for host in ["mcp.example", "MCP2.example:8080", "192.0.2.7", "[2001:DB8:0::1]", "mcp_1"] {
        assert_eq!(allowed.host(host), Ok(()), "{host}");
    }
    for (sent, taken) in [
        ("mcp.example:1", true),
        ("mcp2.example", true),
        ("[2001:db8::1]:80", true),
        ("MCP_1", true),
        ("mcp3.example", false),
        ("mcp.example.", false),
        ("[2001:db8::2]", false),
    ] {
        assert_eq!(allowed.takes(sent), taken, "{sent}");
    }
}

// the log names what was refused, on one line
#[test]
fn what_is_refused_is_shown_on_one_line_and_in_part() {
    let of = |values: &[&[u8]]| shown(values.iter().copied());
    assert_eq!(of(&[b"https://evil.example"]), "\"https://evil.example\"");
    assert_eq!(of(&[b"a\r\nWARN b\t\"\x1b[31m\xff"]), r#""a\r\nWARN b\t\"\x1b[31m\xff""#);
    assert_eq!(of(&[b"a", b"b"]), r#""a" and "b""#);
    let long = of(&[&[b'x'; 10_000], &[b'y'; 128], b"z", b"more"]);
    assert_eq!(long, format!("\"{}..\" and \"{}\" and \"z\"", "x".repeat(128), "y".repeat(128)));
}

#[test]
fn a_host_may_have_a_colon_without_a_port_and_an_address_in_any_spelling() {
    let mut allowed = Allowed::default();
    assert!(allowed.host("mcp.example").is_ok());
    for named in ["localhost:", "mcp.example:", "[::1]:", "[0:0:0:0:0:0:0:1]", "[0:0::1]:80"] {
        assert!(allowed.takes(named), "{named}");
    }
    for named in [":", "localhost::", "[::2]", "[::1", "evil.example:", "mcp.example:a"] {
        assert!(!allowed.takes(named), "{named}");
    }
}
