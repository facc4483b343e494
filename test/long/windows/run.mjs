// node test/long/windows/run.mjs --minutes 15 --clients 64: client processes with worker windows under faults.
import { runTypescript } from '../../../scripts/run-typescript.mjs';

const SOURCES = ['test/long/windows', 'test/long/simulation', 'test/support', 'libs', 'migrations'];
runTypescript('test/long/windows/run', SOURCES, process.argv.slice(2));
