// node test/versions/make-fixture.mjs <name> [cases…] [--from <revision>]: lets the server of this checkout, or of the revision,
// create data in each kind of storage, and writes the data to test/versions/fixtures/<name>.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runTypescript } from '../../scripts/run-typescript.mjs';
import { buildOlder, olderRevision } from './older.mjs';

const { values, positionals } = parseArgs({ options: { from: { type: 'string' } }, allowPositionals: true });
const [name, ...cases] = positionals;
if (!/^[\w.-]+$/.test(name ?? '')) throw new Error('Name the fixture: node test/versions/make-fixture.mjs 1.0.0');
let root = join(import.meta.dirname, '../..');
if (values.from === undefined) await import('../../scripts/ensure-build.mjs');
else root = buildOlder(olderRevision(values.from).commit, console.log);
const SOURCES = ['test/versions', 'test/long/chaos', 'test/support', 'libs', 'migrations'];
runTypescript('test/versions/make-fixture', SOURCES, [name, root, ...cases]);
