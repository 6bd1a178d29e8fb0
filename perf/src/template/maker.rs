//! Objects of a template, one after the other, without reading text for each.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_objects::{AnyObject, ObjectReader};
use serde_json::Value;

use super::fields::decapitalize;
use super::shape::Shape;
use super::{Template, Turn};
use crate::Error;

/// Makes objects of a template.
#[derive(Clone, Debug)]
pub struct Maker {
    template: Template,
    count: usize,
    /// What its objects are called in errors: their kind.
    kind: String,
    /// Whether it was said what they must be, so that kube-scheduler's benchmark reads them into a type.
    is_typed: bool,
    pub(super) form: Form,
}

#[derive(Clone, Debug)]
pub(super) enum Form {
    /// All are alike.
    Same(AnyObject),
    /// Names and annotations differ.
    Metadata(AnyObject, Shape),
    /// They differ in some places.
    Shape(Shape),
    /// Each text is read.
    Text,
}

impl Maker {
    /// Makes `count` objects. `kind` is what they must be, if that is known. `None`: scheduling does not look at such.
    ///
    /// # Errors
    /// The first or the last is no such object.
    pub fn new(template: &Template, count: usize, kind: Option<&str>) -> Result<Option<Maker>, Error> {
        let template = template.counted(count)?;
        let shape = Shape::of(&template, count)?;
        let turn = Turn { index: 0, count };
        let mut sample = template.document(turn)?;
        if kind.is_some() {
            decapitalize(&mut sample);
        }
        let found = sample.get("kind").and_then(Value::as_str).map(str::to_owned);
        let Some(found) = found.or_else(|| kind.map(str::to_owned)) else {
            return Err(Error::new("is not a Kubernetes object: there is no `kind`").at(&template.name));
        };
        if let Some(kind) = kind
            && kind != found
        {
            return Err(Error::new(format!("is a {found}, but must be a {kind}")).at(&template.name));
        }
        let mut maker = Maker { template, count, kind: found, is_typed: kind.is_some(), form: Form::Text };
        maker.complete(&mut sample)?;
        let Some(sample) = maker.object(sample)? else { return Ok(None) };
        maker.form = match shape {
            None => Form::Text,
            Some(Shape::Same(_)) => Form::Same(sample),
            Some(shape) => match shape.field("metadata") {
                Some(metadata) if only_names_change(&shape, metadata) => Form::Metadata(sample, metadata.clone()),
                _ => Form::Shape(shape),
            },
        };
        if count > 1 {
            maker.make(count - 1)?;
        }
        Ok(Some(maker))
    }

    /// The kind of the objects.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// What all objects have in common but their names, if that is all but their names: to be completed once.
    pub fn prototype(&mut self) -> Option<&mut AnyObject> {
        match &mut self.form {
            Form::Same(object) | Form::Metadata(object, _) => Some(object),
            Form::Shape(_) | Form::Text => None,
        }
    }

    /// An object.
    ///
    /// # Errors
    /// It is none.
    pub fn make(&self, index: usize) -> Result<AnyObject, Error> {
        let turn = Turn { index, count: self.count };
        let failed = |error: String| Error::new(error).at(&self.template.name);
        let value = match &self.form {
            Form::Same(object) => return Ok(object.clone()),
            Form::Metadata(object, shape) => {
                let metadata: ObjectMeta = serde_json::from_value(shape.value(turn).map_err(failed)?)
                    .map_err(|error| Error::new(error).at("metadata").at(&self.template.name))?;
                let mut object = object.clone();
                let own = object.metadata_mut();
                (own.name, own.generate_name) = (metadata.name, metadata.generate_name);
                own.annotations = metadata.annotations;
                return Ok(object);
            }
            Form::Shape(shape) => shape.value(turn).map_err(failed)?,
            Form::Text => self.template.document(turn)?,
        };
        self.read(value)
    }

    fn read(&self, mut value: Value) -> Result<AnyObject, Error> {
        self.complete(&mut value)?;
        let other = || Error::new("its objects are not all of one kind").at(&self.template.name);
        self.object(value)?.ok_or_else(other)
    }

    /// Gives the document the kind that it must have, if it says nothing.
    fn complete(&self, value: &mut Value) -> Result<(), Error> {
        if self.is_typed {
            decapitalize(value);
        }
        let Value::Object(fields) = value else {
            return Err(Error::new("is not a Kubernetes object: there are no fields").at(&self.template.name));
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
        // The first problem is reported: all objects of a template have the same ones.
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
