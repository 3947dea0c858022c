//! Content blocks and what surrounds them, in the shape of the newest revision; `era` takes out what an older one lacks.
//!
//! [`Base64`] is written by hand: the crate `base64` has no support for serde.

use base64::{Engine, display::Base64Display, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct};
use serde_json::{Map, Value};

/// A `_meta` object: keys are reverse-domain names, values any JSON.
pub type MetaMap = Map<String, Value>;

/// Who a message is by, or for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// Hints on how a block or a resource is to be used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// Who it is meant for; both if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<Vec<Role>>,
    /// How important it is, from 0 (optional) to 1 (required).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// When it was last changed, by ISO 8601. From 2025-06-18 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// A picture for a definition. From 2025-11-25 on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Icon {
    /// An `https:` or `data:` URI.
    pub src: String,
    /// Such as `image/png`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Such as `48x48`, or `any`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<String>>,
    /// `light` or `dark`, the background it is made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<String>,
}

impl Icon {
    /// An icon at this URI.
    pub fn new(src: impl Into<String>) -> Self {
        Self { src: src.into(), mime_type: None, sizes: None, theme: None }
    }
}

/// Bytes that travel as base64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Base64(pub Vec<u8>);

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Encoded(&self.0).serialize(serializer)
    }
}

/// Writes bytes as base64 without a copy of them.
struct Encoded<'a>(&'a [u8]);

impl Serialize for Encoded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Base64Display::new(self.0, &STANDARD))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        STANDARD.decode(text.as_bytes()).map(Self).map_err(serde::de::Error::custom)
    }
}

/// One block of content: of a tool's result, a prompt's message, or a sampled answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Text.
    Text(TextContent),
    /// An image.
    Image(MediaContent),
    /// Sound. From 2025-03-26 on; before, a text block takes its place.
    Audio(MediaContent),
    /// A resource to be read by its URI. From 2025-06-18 on; before, a text block takes its place.
    ResourceLink(ResourceLink),
    /// A resource with its contents.
    Resource(EmbeddedResource),
}

/// A text block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// Hints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// `_meta`. From 2025-06-18 on.
    #[serde(default, rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaMap>,
}

/// An image or sound block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MediaContent {
    /// The bytes.
    pub data: Base64,
    /// Such as `image/png` or `audio/wav`.
    pub mime_type: String,
    /// Hints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// `_meta`. From 2025-06-18 on.
    #[serde(default, rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaMap>,
}

/// A resource, named by its URI.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceLink {
    /// Where `resources/read` finds it.
    pub uri: String,
    /// The resource's name.
    pub name: String,
    /// The name to show to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its MIME type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size in bytes, before base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Hints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Icons. From 2025-11-25 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// `_meta`.
    #[serde(default, rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaMap>,
}

/// A resource with its contents, inside a result or a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmbeddedResource {
    /// The contents.
    pub resource: ResourceContents,
    /// Hints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// `_meta`. From 2025-06-18 on.
    #[serde(default, rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaMap>,
}

/// The contents of one resource: text or bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceContents {
    /// The resource's URI.
    pub uri: String,
    /// Its MIME type.
    pub mime_type: Option<String>,
    /// What is in it.
    pub body: ResourceBody,
    /// `_meta`. From 2025-06-18 on.
    pub meta: Option<MetaMap>,
}

/// What is in a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes; they travel as base64.
    Blob(Vec<u8>),
}

impl ResourceContents {
    /// Contents that are text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, body: ResourceBody::Text(text.into()), meta: None }
    }

    /// Contents that are bytes.
    pub fn blob(uri: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { uri: uri.into(), mime_type: None, body: ResourceBody::Blob(bytes.into()), meta: None }
    }

    /// Names the MIME type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

impl Serialize for ResourceContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("ResourceContents", 4)?;
        out.serialize_field("uri", &self.uri)?;
        if let Some(mime_type) = &self.mime_type {
            out.serialize_field("mimeType", mime_type)?;
        }
        match &self.body {
            ResourceBody::Text(text) => out.serialize_field("text", text)?,
            ResourceBody::Blob(bytes) => out.serialize_field("blob", &Encoded(bytes))?,
        }
        if let Some(meta) = &self.meta {
            out.serialize_field("_meta", meta)?;
        }
        out.end()
    }
}

impl<'de> Deserialize<'de> for ResourceContents {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Fields {
            uri: String,
            mime_type: Option<String>,
            text: Option<String>,
            blob: Option<Base64>,
            #[serde(rename = "_meta")]
            meta: Option<MetaMap>,
        }
        let fields = Fields::deserialize(deserializer)?;
        let body = match (fields.text, fields.blob) {
            (Some(text), _) => ResourceBody::Text(text),
            (None, Some(blob)) => ResourceBody::Blob(blob.0),
            (None, None) => return Err(serde::de::Error::missing_field("text")),
        };
        Ok(Self { uri: fields.uri, mime_type: fields.mime_type, body, meta: fields.meta })
    }
}

impl Content {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent { text: text.into(), ..TextContent::default() })
    }

    /// An image of this MIME type, such as `image/png`.
    pub fn image(bytes: impl Into<Vec<u8>>, mime_type: impl Into<String>) -> Self {
        Self::Image(MediaContent {
            data: Base64(bytes.into()),
            mime_type: mime_type.into(),
            ..MediaContent::default()
        })
    }

    /// Sound of this MIME type, such as `audio/wav`.
    pub fn audio(bytes: impl Into<Vec<u8>>, mime_type: impl Into<String>) -> Self {
        Self::Audio(MediaContent {
            data: Base64(bytes.into()),
            mime_type: mime_type.into(),
            ..MediaContent::default()
        })
    }

    /// A link to a resource.
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::ResourceLink(ResourceLink { uri: uri.into(), name: name.into(), ..ResourceLink::default() })
    }

    /// A resource with its contents.
    #[must_use]
    pub fn resource(contents: ResourceContents) -> Self {
        Self::Resource(EmbeddedResource { resource: contents, annotations: None, meta: None })
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}
