// node test/long/chaos/run.mjs [options]: compiles and runs the chaos run.
import '../../../scripts/ensure-build.mjs';
import { runTypescript } from '../../../scripts/run-typescript.mjs';

const SOURCES = ['test/long/chaos', 'test/long/simulation', 'test/support', 'libs', 'migrations'];
runTypescript('test/long/chaos/run', SOURCES, process.argv.slice(2));
