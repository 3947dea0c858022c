//! Values given to the server, by type; what `web::Data<T>` finds where there is no `App`.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::Arc,
};

/// One value a type.
#[derive(Clone, Default)]
pub struct DataMap(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl DataMap {
    /// Keeps a value; an earlier one of its type is replaced.
    pub fn insert<T: Any + Send + Sync>(&mut self, value: Arc<T>) {
        self.0.insert(TypeId::of::<T>(), value);
    }

    /// The value of this type.
    #[must_use]
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.get(&TypeId::of::<T>()).cloned().and_then(|value| value.downcast().ok())
    }
}

impl fmt::Debug for DataMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DataMap").field(&self.0.len()).finish()
    }
}
