// node test/long/strict/run.mjs [options]: compiles and runs the history of strict tags.
import { runTypescript } from '../../../scripts/run-typescript.mjs';

const SOURCES = ['test/long/strict', 'test/long/chaos/load', 'test/support', 'libs', 'migrations'];
runTypescript('test/long/strict/run', SOURCES, process.argv.slice(2));
