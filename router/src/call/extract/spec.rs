//! What a handler needs, collected when it is registered.

use std::any::type_name;

use actix_web::{HttpRequest, web};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    call::{
        data::DataMap,
        extract::{
            FromCall, Takes,
            members::{self, Ask},
        },
    },
    schema::{self, Property, SchemaError},
};

/// Collects what a handler's extractors need: arguments, and values that the application must provide.
#[derive(Debug)]
pub struct HandlerSpec {
    /// One for all arguments, so that they share their `$defs`.
    generator: SchemaGenerator,
    arguments: Arguments,
    /// Whether the type that takes all arguments refuses unknown members.
    is_closed: bool,
    /// Asks the type that takes all arguments for its members.
    ask: Option<Ask>,
    /// Whether the handler can do without its arguments.
    optional: bool,
    needs: Requirements,
    /// The first mistake that the compiler does not catch.
    mistake: Option<SchemaError>,
}

#[derive(Debug)]
enum Arguments {
    /// The handler takes none.
    None,
    /// One type takes all of them.
    Whole(serde_json::Value),
    /// Each is a parameter.
    Each(Vec<Property>),
    /// Both, or two types take all of them.
    Twice,
}

/// The values a handler needs from its application, by type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requirements {
    data: Vec<Need>,
    logs: bool,
}

#[derive(Clone, Copy, Debug)]
struct Need {
    name: &'static str,
    in_server: fn(&DataMap) -> bool,
    in_app: fn(&HttpRequest) -> bool,
}

impl HandlerSpec {
    /// What this extractor, or tuple of extractors, needs.
    pub(crate) fn of<A: FromCall>() -> Self {
        let mut spec = Self::new();
        A::describe(&mut spec);
        spec
    }

    pub(crate) fn new() -> Self {
        Self {
            generator: schema::input_generator(),
            arguments: Arguments::None,
            is_closed: false,
            ask: None,
            optional: false,
            needs: Requirements::default(),
            mistake: None,
        }
    }

    /// Declares that the handler takes all its arguments as one `T`.
    pub fn arguments<T: JsonSchema>(&mut self) {
        self.arguments = match self.arguments {
            Arguments::None => Arguments::Whole(schema::root::<T>(&mut self.generator)),
            Arguments::Whole(_) | Arguments::Each(_) | Arguments::Twice => Arguments::Twice,
        };
    }

    /// The same for a type that can be asked for its members.
    pub(crate) fn whole<T: JsonSchema + DeserializeOwned>(&mut self) {
        self.arguments::<T>();
        self.ask = Some(members::ask::<T>);
        // an open schema settles it: the type's own code is not run
        self.is_closed = matches!(&self.arguments, Arguments::Whole(schema) if schema.get("additionalProperties") == Some(&Value::Bool(false)))
            && members::ask::<T>().is_closed;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Declares an argument of this name.
    pub(crate) fn argument<T: JsonSchema>(&mut self, name: &'static str, doc: &'static str, required: bool) {
        let schema = self.generator.subschema_for::<T>().to_value();
        let property = Property { name, doc, required, schema };
        match &mut self.arguments {
            Arguments::None => self.arguments = Arguments::Each(vec![property]),
            Arguments::Each(properties) => properties.push(property),
            Arguments::Whole(_) | Arguments::Twice => self.arguments = Arguments::Twice,
        }
    }

    /// Declares that clients repeat the parameter described last in this header.
    pub(crate) fn header(&mut self, name: &str, header: &str, is_argument: bool) {
        if !is_argument {
            return self.wrong_header(name, "is on a parameter that is not an argument");
        }
        // next to an `Args`, which takes all arguments, it is another mistake
        let Arguments::Each(properties) = &mut self.arguments else { return };
        // the schema `true` accepts anything: it has no place for this, and no type that a header could repeat
        if let Some(Value::Object(schema)) = properties.last_mut().map(|last| &mut last.schema) {
            schema.insert(schema::headers::ANNOTATION.to_owned(), header.into());
        } else {
            self.wrong_header(name, "is on a value that is not a string, integer or boolean");
        }
    }

    fn wrong_header(&mut self, name: &str, why: &'static str) {
        self.mistake.get_or_insert_with(|| SchemaError::Header { at: name.to_owned(), why });
    }

    /// Declares that the handler needs a `web::Data<T>`, from its app or its server.
    pub fn data<T: ?Sized + 'static>(&mut self) {
        self.needs.data.push(Need {
            name: type_name::<T>(),
            in_server: |data| data.get::<T>().is_some(),
            in_app: |request| request.app_data::<web::Data<T>>().is_some(),
        });
    }

    /// Declares that the handler may log to its client: the server then declares `logging`.
    pub fn logs(&mut self) {
        self.needs.logs = true;
    }

    /// Describes something that the handler can do without.
    pub(crate) fn optional(&mut self, describe: impl FnOnce(&mut Self)) {
        let needed = self.needs.data.len();
        let before = matches!(self.arguments, Arguments::None);
        describe(self);
        self.optional |= before && !matches!(self.arguments, Arguments::None);
        self.needs.data.truncate(needed);
    }

    /// What a reader must find in its template; `None` if nothing.
    ///
    /// # Errors
    ///
    /// Those of [`finish`](Self::finish).
    pub(crate) fn takes(self) -> (Result<Option<Takes>, SchemaError>, Requirements) {
        let (ask, optional) = (self.ask, self.optional);
        let nothing = optional || matches!(self.arguments, Arguments::None);
        let (schema, needs) = self.finish();
        (schema.map(|schema| (!nothing).then_some(Takes { schema, ask })), needs)
    }

    /// The schema of the arguments as the types give it, before it is adapted for clients, and what else the handler
    /// needs.
    ///
    /// # Errors
    ///
    /// [`SchemaError::Header`] for a header on a parameter that it cannot repeat; [`SchemaError::SeveralArgs`] if more
    /// than one parameter takes all arguments, or one does next to plain ones.
    pub(crate) fn finish(mut self) -> (Result<serde_json::Value, SchemaError>, Requirements) {
        if let Some(mistake) = self.mistake {
            return (Err(mistake), self.needs);
        }
        let schema = match self.arguments {
            Arguments::None => Ok(schema::object(Vec::new(), serde_json::Map::new())),
            Arguments::Whole(schema) => Ok(schema),
            Arguments::Each(properties) => {
                Ok(schema::object(properties, self.generator.take_definitions(true)))
            }
            Arguments::Twice => Err(SchemaError::SeveralArgs),
        };
        (schema, self.needs)
    }
}

impl Requirements {
    /// The types of `web::Data` that the server lacks: over stdio, where there is no app, handlers that need them fail.
    pub(crate) fn missing(&self, server: &DataMap) -> Vec<&'static str> {
        self.data.iter().filter(|need| !(need.in_server)(server)).map(|need| need.name).collect()
    }

    /// The types of `web::Data` that neither this request's app nor the server has.
    pub(crate) fn missing_in(&self, request: &HttpRequest, server: &DataMap) -> Vec<&'static str> {
        let missing = |need: &&Need| !(need.in_app)(request) && !(need.in_server)(server);
        self.data.iter().filter(missing).map(|need| need.name).collect()
    }

    /// Whether the handler may log to its client.
    pub(crate) fn logging(&self) -> bool {
        self.logs
    }
}

#[cfg(test)]
mod tests {
    use std::{rc::Rc, sync::Arc};

    use actix_web::{test::TestRequest, web};

    use super::*;

    #[test]
    fn data_that_neither_the_server_nor_the_app_has_is_named_unless_it_is_optional() {
        type Taken = (web::Data<String>, web::Data<Rc<u8>>, Option<web::Data<u16>>);
        let (_, needs) = HandlerSpec::of::<Taken>().finish();
        let mut server = DataMap::default();
        assert_eq!(needs.missing(&server), ["alloc::string::String", "alloc::rc::Rc<u8>"]);
        let request = TestRequest::default().app_data(web::Data::new(Rc::new(1_u8))).to_http_request();
        assert_eq!(needs.missing_in(&request, &server), ["alloc::string::String"]);
        server.insert(Arc::new(String::new()));
        assert_eq!(needs.missing(&server), ["alloc::rc::Rc<u8>"]);
        assert!(needs.missing_in(&request, &server).is_empty());
    }
}
