//! Creation of the objects of a template, without parsing text for each.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_objects::{AnyObject, ObjectReader};
use serde_json::Value;

use super::fields::decapitalize;
use super::shape::Shape;
use super::{Template, TemplateContext};
use crate::Error;

/// Creates the objects of a template.
#[derive(Clone, Debug)]
pub struct ObjectFactory {
    template: Template,
    count: usize,
    /// Kind of the objects.
    kind: String,
    /// Whether the kind is given: scheduler_perf then decodes the objects into a Go type, which ignores the case of the
    /// first letter of field names.
    is_typed: bool,
    pub(super) form: ObjectForm,
}

#[derive(Clone, Debug)]
pub(super) enum ObjectForm {
    /// All objects are equal.
    Same(AnyObject),
    /// Only names and annotations differ.
    Metadata(AnyObject, Shape),
    /// Some fields differ.
    Shape(Shape),
    /// The text of each object is parsed.
    Text,
}

impl ObjectFactory {
    /// Creates a factory for `count` objects. `kind` is the required kind, if any. Returns `None` if scheduling
    /// ignores objects of this kind.
    ///
    /// # Errors
    /// Returns an error if the first or the last object is invalid or of another kind.
    pub fn new(template: &Template, count: usize, kind: Option<&str>) -> Result<Option<ObjectFactory>, Error> {
        let template = template.counted(count)?;
        let shape = Shape::of(&template, count)?;
        let context = TemplateContext { index: 0, count };
        let mut sample = template.document(context)?;
        if kind.is_some() {
            decapitalize(&mut sample);
        }
        let sample_kind = sample.get("kind").and_then(Value::as_str).map(str::to_owned);
        let Some(sample_kind) = sample_kind.or_else(|| kind.map(str::to_owned)) else {
            return Err(Error::new("is not a Kubernetes object: `kind` is missing").at(&template.name));
        };
        if let Some(kind) = kind
            && kind != sample_kind
        {
            return Err(Error::new(format!("is a {sample_kind}, but must be a {kind}")).at(&template.name));
        }
        let mut factory =
            ObjectFactory { template, count, kind: sample_kind, is_typed: kind.is_some(), form: ObjectForm::Text };
        factory.complete(&mut sample)?;
        let Some(sample) = factory.object(sample)? else { return Ok(None) };
        factory.form = match shape {
            None => ObjectForm::Text,
            Some(Shape::Same(_)) => ObjectForm::Same(sample),
            Some(shape) => match shape.field("metadata") {
                Some(metadata) if only_names_change(&shape, metadata) => ObjectForm::Metadata(sample, metadata.clone()),
                _ => ObjectForm::Shape(shape),
            },
        };
        if count > 1 {
            factory.make(count - 1)?;
        }
        Ok(Some(factory))
    }

    /// Returns the kind of the objects.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Returns the common part of all objects, to be admitted once. `None`: they differ in more than names and
    /// annotations.
    pub(crate) fn prototype(&mut self) -> Option<&mut AnyObject> {
        match &mut self.form {
            ObjectForm::Same(object) | ObjectForm::Metadata(object, _) => Some(object),
            ObjectForm::Shape(_) | ObjectForm::Text => None,
        }
    }

    /// Creates an object.
    ///
    /// # Errors
    /// Returns an error if the object is invalid.
    pub fn make(&self, index: usize) -> Result<AnyObject, Error> {
        let context = TemplateContext { index, count: self.count };
        let failed = |error: String| Error::new(error).at(&self.template.name);
        let value = match &self.form {
            ObjectForm::Same(object) => return Ok(object.clone()),
            ObjectForm::Metadata(object, shape) => {
                let metadata: ObjectMeta = serde_json::from_value(shape.value(context).map_err(failed)?)
                    .map_err(|error| Error::new(error).at("metadata").at(&self.template.name))?;
                let mut object = object.clone();
                let object_metadata = object.metadata_mut();
                (object_metadata.name, object_metadata.generate_name) = (metadata.name, metadata.generate_name);
                object_metadata.annotations = metadata.annotations;
                return Ok(object);
            }
            ObjectForm::Shape(shape) => shape.value(context).map_err(failed)?,
            ObjectForm::Text => self.template.document(context)?,
        };
        self.read(value)
    }

    fn read(&self, mut value: Value) -> Result<AnyObject, Error> {
        self.complete(&mut value)?;
        let other = || Error::new("its objects have different kinds").at(&self.template.name);
        self.object(value)?.ok_or_else(other)
    }

    /// Sets the required kind if the document has none.
    fn complete(&self, value: &mut Value) -> Result<(), Error> {
        if self.is_typed {
            decapitalize(value);
        }
        let Value::Object(fields) = value else {
            return Err(Error::new("is not a Kubernetes object: it has no fields").at(&self.template.name));
        };
        fields.entry("kind").or_insert_with(|| self.kind.as_str().into());
        if let Some((_, api_version)) = AnyObject::kind_named(&self.kind) {
            fields.entry("apiVersion").or_insert_with(|| api_version.into());
        }
        Ok(())
    }

    fn object(&self, value: Value) -> Result<Option<AnyObject>, Error> {
        let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        // Only the first problem is reported: all objects of a template have the same problems.
        ObjectReader::default().read(&api_version, &kind, value).map_err(|errors| {
            let first = errors.first().map_or_else(String::new, ToString::to_string);
            Error::new(first).at(&self.template.name)
        })
    }
}

fn only_names_change(shape: &Shape, metadata: &Shape) -> bool {
    let names = ["name", "generateName", "annotations"];
    shape.changing().is_some_and(|fields| fields == ["metadata"])
        && metadata.changing().is_some_and(|fields| fields.iter().all(|field| names.contains(field)))
}
