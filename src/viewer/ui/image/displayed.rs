//! A back end's image as the window shows it: developed on a thread of its own, kept in a texture.

use super::framing::covered;
use super::worker::BackgroundWorker;
use crate::develop::{Look, develop};
use crate::workers::Shown;
use egui::{Color32, ColorImage, Context, Painter, Rect, TextureHandle, TextureOptions};
use shadewright_image::Image;
use std::sync::Arc;

/// A texture that is changed in place.
pub struct Texture {
    handle: TextureHandle,
    image: Arc<ColorImage>,
    options: TextureOptions,
}

impl Texture {
    /// Puts an image into a texture. One of the same size takes the place of the old one, so that
    /// nothing is allocated on the device.
    pub fn put(slot: &mut Option<Self>, context: &Context, name: &str, image: Arc<ColorImage>) {
        match slot {
            Some(texture) if texture.image.size == image.size => {
                texture.handle.set_partial([0, 0], image.clone(), texture.options);
                texture.image = image;
            }
            _ => {
                let options = slot.as_ref().map_or(TextureOptions::LINEAR, |texture| texture.options);
                let handle = context.load_texture(name, image.clone(), options);
                *slot = Some(Self { handle, image, options });
            }
        }
    }

    /// Shows pixels as squares, or blends them.
    pub fn set_sharp(&mut self, sharp: bool) {
        let options = if sharp { TextureOptions::NEAREST } else { TextureOptions::LINEAR };
        if self.options != options {
            self.options = options;
            self.handle.set_partial([0, 0], self.image.clone(), options);
        }
    }

    /// Paints the part `covered` of it over a place on the screen.
    pub fn paint(&self, painter: &Painter, place: Rect, covered: Rect, tint: Color32) {
        painter.image(self.handle.id(), place, covered, tint);
    }
}

/// An image as an image for the screen. `step` is as for [`develop`].
pub fn image(image: &Image, look: Look, step: u32) -> Arc<ColorImage> {
    let size = [image.width as usize, image.height as usize];
    Arc::new(ColorImage::new(size, develop(image, look, step, Color32::from_rgb)))
}

/// A back end's image on the screen.
#[derive(Default)]
pub struct DisplayedImage {
    worker: Option<BackgroundWorker<Exposure, Developed>>,
    /// The exposure that the texture shows.
    shows: Option<Exposure>,
    texture: Option<Texture>,
}

/// The image that is developed, and the look it is given.
#[derive(Clone)]
struct Exposure {
    shown: Arc<Shown>,
    look: Look,
}

impl Exposure {
    fn is(&self, shown: &Arc<Shown>, look: Look) -> bool {
        Arc::ptr_eq(&self.shown, shown) && self.look == look
    }
}

struct Developed {
    exposure: Exposure,
    image: Arc<ColorImage>,
}

impl DisplayedImage {
    /// Has an image developed, and takes the last one that was.
    pub fn update(&mut self, context: &Context, shown: &Arc<Shown>, look: Look, sharp: bool) {
        let worker = self.worker.get_or_insert_with(|| {
            BackgroundWorker::open(context.clone(), |exposure: Exposure| {
                let image = image(&exposure.shown.image, exposure.look, exposure.shown.step);
                Developed { exposure, image }
            })
        });
        if let Some(Developed { exposure, image }) = worker.answer() {
            Texture::put(&mut self.texture, context, exposure.shown.backend.title(), image);
            self.shows = Some(exposure);
        }
        if worker.is_free() && !self.shows.as_ref().is_some_and(|shows| shows.is(shown, look)) {
            worker.ask(Exposure { shown: shown.clone(), look });
        }
        if let Some(texture) = &mut self.texture {
            texture.set_sharp(sharp);
        }
    }

    /// Forgets an image that is no longer wanted.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The image that is painted, and how it was developed: the last that is ready.
    pub fn shows(&self) -> Option<(&Arc<Shown>, Look)> {
        self.shows.as_ref().map(|shows| (&shows.shown, shows.look))
    }

    /// Paints it over a place on the screen; nothing as long as nothing was developed.
    pub fn paint(&self, painter: &Painter, place: Rect, tint: Color32) {
        if let (Some(texture), Some(Exposure { shown, .. })) = (&self.texture, &self.shows) {
            let blocks = [shown.image.width, shown.image.height];
            texture.paint(painter, place, covered(shown.view.format, blocks, shown.step), tint);
        }
    }
}
