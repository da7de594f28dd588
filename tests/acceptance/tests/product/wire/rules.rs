//! What each interface demands of the order and content of a conversation, as its documentation has it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// A rule that is broken.
type Broken = Result<(), String>;

fn rule(kept: bool, text: &str) -> Broken {
    if kept { Ok(()) } else { Err(text.to_owned()) }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The calls of one answer, each of which is answered once, before anything else.
#[derive(Default)]
struct Calls {
    ever: BTreeSet<String>,
    open: BTreeSet<String>,
}

impl Calls {
    fn call(&mut self, id: &Value) -> Broken {
        let id = text(id).to_owned();
        rule(!id.is_empty(), "a call has an id")?;
        rule(self.ever.insert(id.clone()), "ids of calls are unique")?;
        self.open.insert(id);
        Ok(())
    }

    fn result(&mut self, id: &Value) -> Broken {
        rule(
            self.open.remove(text(id)),
            "a result answers a call directly before it, once",
        )
    }

    fn none_open(&self) -> Broken {
        rule(
            self.open.is_empty(),
            "every call is answered before anything else",
        )
    }
}

/// The rules of `POST /chat/completions` for `messages`.
pub(super) fn chat(messages: &Value) -> Broken {
    let mut calls = Calls::default();
    let said = list(messages)
        .iter()
        .skip_while(|message| message["role"] == "system");
    let said: Vec<_> = said.collect();
    rule(
        said.first().is_some_and(|first| first["role"] == "user"),
        "the user speaks first",
    )?;
    for message in &said {
        match text(&message["role"]) {
            "tool" => {
                rule(message["content"].is_string(), "a result has content")?;
                calls.result(&message["tool_call_id"])?;
            }
            "user" => {
                calls.none_open()?;
                rule(
                    !text(&message["content"]).is_empty(),
                    "content is not empty",
                )?;
            }
            "assistant" => {
                calls.none_open()?;
                let made = list(&message["tool_calls"]);
                rule(
                    message.get("tool_calls").is_none() || !made.is_empty(),
                    "a list of calls is not empty",
                )?;
                rule(
                    !text(&message["content"]).is_empty()
                        || (message["content"].is_null() && !made.is_empty()),
                    "an answer has content or calls",
                )?;
                for call in made {
                    rule(
                        call["function"]["arguments"].is_string(),
                        "arguments are a text",
                    )?;
                    calls.call(&call["id"])?;
                }
            }
            _ => rule(false, "roles are system, user, assistant and tool")?,
        }
    }
    calls.none_open()?;
    rule(
        said.last().is_some_and(|last| last["role"] != "assistant"),
        "the model is asked for the next answer",
    )
}

/// The rules of `POST /responses` for `input`.
pub(super) fn responses(input: &Value) -> Broken {
    let mut calls = Calls::default();
    let items = list(input);
    rule(
        items.first().is_some_and(|first| first["role"] == "user"),
        "the user speaks first",
    )?;
    let mut answered = true;
    for item in items {
        match text(&item["type"]) {
            "function_call" => {
                rule(
                    !answered || calls.open.is_empty(),
                    "calls come together, before their results",
                )?;
                rule(item["arguments"].is_string(), "arguments are a text")?;
                calls.call(&item["call_id"])?;
                answered = false;
            }
            "function_call_output" => {
                rule(item["output"].is_string(), "a result has an output")?;
                calls.result(&item["call_id"])?;
                answered = true;
            }
            "" => {
                calls.none_open()?;
                rule(
                    ["user", "assistant"].contains(&text(&item["role"])),
                    "roles are user and assistant",
                )?;
                rule(!text(&item["content"]).is_empty(), "content is not empty")?;
            }
            _ => rule(false, "there are messages, calls and their outputs")?,
        }
    }
    calls.none_open()?;
    rule(
        items.last().is_some_and(|last| last["role"] != "assistant"),
        "the model is asked for the next answer",
    )
}

/// The rules of `POST /v1/messages` for `messages`.
pub(super) fn messages(messages: &Value) -> Broken {
    let mut calls = Calls::default();
    let turns = list(messages);
    for (place, turn) in turns.iter().enumerate() {
        let role = if place % 2 == 0 { "user" } else { "assistant" };
        rule(
            turn["role"] == role,
            "the user speaks first, and roles alternate",
        )?;
        let blocks = list(&turn["content"]);
        rule(!blocks.is_empty(), "content is not empty")?;
        let mut called = false;
        for block in blocks {
            match (role, text(&block["type"])) {
                (_, "text") => {
                    calls.none_open().or_else(|broken| {
                        // Within one answer, text may stand beside calls.
                        rule(called, &broken)
                    })?;
                    rule(
                        !text(&block["text"]).trim().is_empty(),
                        "texts are not blank",
                    )?;
                }
                ("assistant", "tool_use") => {
                    rule(block["input"].is_object(), "arguments are an object")?;
                    calls.call(&block["id"])?;
                    called = true;
                }
                ("user", "tool_result") => {
                    calls.result(&block["tool_use_id"])?;
                    rule(
                        block["is_error"] != true || !text(&block["content"]).trim().is_empty(),
                        "a failed call says why",
                    )?;
                }
                _ => rule(
                    false,
                    "a user has texts and results, an assistant texts and calls",
                )?,
            }
        }
        if role == "user" {
            calls.none_open()?;
        }
    }
    rule(
        turns.last().is_some_and(|last| last["role"] == "user"),
        "the model is asked for the next answer",
    )
}

/// The rules are no rubber stamp: each of these breaks one.
#[test]
fn the_rules_refuse_what_the_interfaces_refuse() {
    let user = || json!({"role": "user", "content": "a"});
    let call = |id: &str| json!({"id": id, "function": {"name": "t", "arguments": "{}"}});
    let calls = |ids: &[&str]| {
        let made: Vec<_> = ids.iter().map(|id| call(id)).collect();
        json!({"role": "assistant", "content": null, "tool_calls": made})
    };
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "r"});
    assert_eq!(chat(&json!([user(), calls(&["a"]), result("a")])), Ok(()));
    for broken in [
        json!([]),
        json!([calls(&["a"]), result("a")]),
        json!([user(), calls(&["a"])]),
        json!([user(), calls(&["a"]), user(), result("a")]),
        json!([user(), calls(&["a"]), result("a"), result("a")]),
        json!([user(), calls(&["a", "b"]), result("a"), user()]),
        json!([user(), result("a")]),
        json!([user(), {"role": "assistant", "content": ""}, user()]),
        json!([
            user(),
            calls(&["a"]),
            result("a"),
            calls(&["a"]),
            result("a")
        ]),
    ] {
        assert!(chat(&broken).is_err(), "{broken}");
    }
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "arguments": "{}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "r"});
    assert_eq!(
        responses(&json!([
            user(),
            call("a"),
            call("b"),
            output("b"),
            output("a")
        ])),
        Ok(())
    );
    for broken in [
        json!([call("a"), output("a")]),
        json!([user(), call("a")]),
        json!([user(), call("a"), user(), output("a")]),
        json!([user(), output("a")]),
        json!([user(), {"role": "assistant", "content": ""}, user()]),
    ] {
        assert!(responses(&broken).is_err(), "{broken}");
    }
    let says = |role: &str, blocks: Value| json!({"role": role, "content": blocks});
    let said = |text: &str| json!({"type": "text", "text": text});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "r"});
    let user = || says("user", json!([said("a")]));
    assert_eq!(
        messages(&json!([
            user(),
            says("assistant", json!([said("b"), call("a")])),
            says("user", json!([result("a"), said("c")]))
        ])),
        Ok(())
    );
    let failed =
        json!({"type": "tool_result", "tool_use_id": "a", "content": "", "is_error": true});
    for broken in [
        json!([user(), user()]),
        json!([user(), says("assistant", json!([])), user()]),
        json!([user(), says("assistant", json!([said(" ")])), user()]),
        json!([user(), says("assistant", json!([call("a")])), user()]),
        json!([
            user(),
            says("assistant", json!([call("a")])),
            says("user", json!([said("x"), result("a")]))
        ]),
        json!([
            user(),
            says("assistant", json!([call("a")])),
            says("user", json!([failed]))
        ]),
        json!([user(), says("assistant", json!([said("b")]))]),
        json!([says("user", json!([result("a")]))]),
    ] {
        assert!(messages(&broken).is_err(), "{broken}");
    }
}
