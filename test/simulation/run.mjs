// node test/simulation/run.mjs [options]: compiles and runs the simulation.
import { runTypescript } from '../../scripts/run-typescript.mjs';

runTypescript('test/simulation/run', ['test/simulation', 'libs/core'], process.argv.slice(2));
