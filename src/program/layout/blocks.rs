//! The parameter blocks of lights, volumes and co-shaders: what the code that calls them knows of
//! each, its address included.

use crate::collect::Collected;
use crate::collect::instances::Instance;
use crate::collect::lights::BoundLight;
use crate::layout::environments::Environment;
use crate::records::ParamBlock;
use shadewright_scene::ShaderId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A light, ready to be called.
#[derive(Clone, Debug)]
pub struct LinkedLight {
    /// The light.
    pub bound: BoundLight,
    /// Address of its block.
    pub address: u32,
    /// The number among the environments, if it is an environment light that illuminates some
    /// object.
    pub environment: Option<usize>,
}

/// A volume shader, ready to be called.
#[derive(Clone, Debug)]
pub struct LinkedVolume {
    /// The shader with its parameters.
    pub instance: Arc<Instance>,
    /// Address of its parameter block.
    pub address: u32,
}

/// A co-shader, ready to be called.
#[derive(Clone, Debug)]
pub struct LinkedCoShader {
    /// The cores of the co-shader: the members under an empty name, and the methods.
    pub cores: Vec<LinkedCore>,
}

/// A core of a co-shader.
#[derive(Clone, Debug)]
pub struct LinkedCore {
    /// The co-shader.
    pub id: ShaderId,
    /// The name of the method; empty for the members.
    pub name: Arc<str>,
    /// The core with the parameters of the class.
    pub instance: Arc<Instance>,
    /// Address of its parameter block.
    pub address: u32,
}

/// The scene's co-shaders.
pub type CoShaders = BTreeMap<ShaderId, LinkedCoShader>;

/// The blocks of lights, then of volumes, then of the cores of co-shaders, in the order in which
/// they lie.
pub fn blocks(collected: &Collected) -> Vec<ParamBlock> {
    let lights = collected.lights.iter().map(BoundLight::block);
    let volumes = collected.volumes.values().map(|volume| volume.block.clone());
    let coshaders = collected.coshaders.values().flatten().map(|core| core.instance.block.clone());
    lights.chain(volumes).chain(coshaders).collect()
}

/// Who owns the blocks.
#[derive(Debug)]
pub struct Linked {
    /// The lights, in the scene's order.
    pub lights: Vec<LinkedLight>,
    /// The volumes.
    pub volumes: BTreeMap<ShaderId, LinkedVolume>,
    /// The co-shaders.
    pub coshaders: CoShaders,
}

/// Gives lights, volumes and co-shaders the addresses of their blocks, which follow one another in
/// the order of [`blocks`].
pub fn link(collected: &Collected, mut addresses: impl Iterator<Item = u32>, environments: &[Environment]) -> Linked {
    let mut next = || addresses.next().unwrap_or(0);
    let lights = collected.lights.iter().enumerate().map(|(number, light)| LinkedLight {
        bound: light.clone(),
        address: next(),
        environment: environments.iter().position(|environment| environment.light == number),
    });
    let lights = lights.collect();
    let volumes = collected.volumes.iter();
    let volumes = volumes.map(|(&id, instance)| (id, LinkedVolume { instance: instance.clone(), address: next() }));
    let volumes = volumes.collect();
    let coshaders = collected.coshaders.iter().map(|(&id, cores)| {
        let cores = cores.iter().map(|core| LinkedCore {
            id,
            name: core.method.clone(),
            instance: core.instance.clone(),
            address: next(),
        });
        (id, LinkedCoShader { cores: cores.collect() })
    });
    let coshaders = coshaders.collect();
    Linked { lights, volumes, coshaders }
}
