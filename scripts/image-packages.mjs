// node scripts/image-packages.mjs <folder of node_modules> <target>: writes what the image ships into a new folder, from
// dist/ and the installed packages: the two bundles, the packages that the server loads beside its bundle, without what
// is needed only to build them, and the list of all of them (CycloneDX).
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { EXTERNALS } from '../apps/leaf-server/externals.mjs';
import { readPackage } from './bundled-packages.mjs';

const BUNDLES = [
  'dist/apps/leaf-server/src/main.js',
  'dist/apps/leaf-server/src/chunks',
  'dist/apps/leaf-console/site',
];
const LISTS = ['dist/apps/leaf-server/packages.json', 'dist/apps/leaf-console/packages.json'];
/** Dependencies that no code of the server loads: compilers, libraries of other systems, telemetry of an installation. */
const UNUSED = [/^@types\//, /^@libsql\/.*-musl$/, /^(nan|shelljs|tar)$/, /^@scarf\//];
/** Of these packages, only some files. */
const FILES = {
  zookeeper: ['package.json', 'LICENSE-MIT.txt', 'lib', 'build/Release/zookeeper.node'],
  'swagger-ui-dist': ['package.json', 'LICENSE', 'NOTICE', 'swagger-ui.css', 'swagger-ui-bundle.js'],
};
const UNREAD = /\.(map|d\.ts|d\.mts|d\.cts|md)$|\/(test|tests|docs|examples)$/;

const ROOT = join(import.meta.dirname, '..');
const [from = ROOT, to = 'image'] = process.argv.slice(2);

const folders = new Map();
for (const name of EXTERNALS) addPackage(name, from);
const shipped = [...folders.values()].map(readPackage);
for (const path of BUNDLES) copy(join(ROOT, path), join(to, path), (file) => !file.endsWith('.map'));
for (const [folder, source] of folders) copyPackage(source, join(to, 'node_modules', folder));
const { name, version, license, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
// Its dependencies are not in the image.
writeFileSync(join(to, 'package.json'), `${JSON.stringify({ name, version, license, engines }, null, 2)}\n`);
const bundled = LISTS.flatMap((file) => JSON.parse(readFileSync(join(ROOT, file), 'utf8')));
writeFileSync(join(to, 'sbom.cdx.json'), JSON.stringify(sbomOf([...bundled, ...shipped]), null, 2));

/** Adds the installed package and all that it needs. */
function addPackage(wanted, folder, isOptional = false) {
  if (UNUSED.some((pattern) => pattern.test(wanted))) return;
  const source = installed(wanted, folder);
  if (source === undefined) {
    if (isOptional) return;
    throw new Error(`${wanted} is not installed for ${folder}`);
  }
  const place = relative(join(from, 'node_modules'), source);
  if (folders.has(place)) return;
  folders.set(place, source);
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
  for (const needed of Object.keys(dependencies)) addPackage(needed, source, needed in optionalDependencies);
  for (const needed of Object.keys(optionalDependencies)) addPackage(needed, source, true);
  for (const needed of Object.keys(peerDependencies)) {
    if (peerDependenciesMeta[needed]?.optional !== true) addPackage(needed, source);
  }
}

/** Where Node.js finds a package for the code in a folder. */
function installed(wanted, folder) {
  for (let at = folder; ; at = dirname(at)) {
    const found = join(at, 'node_modules', wanted);
    if (existsSync(join(found, 'package.json'))) return found;
    if (at === from || at === dirname(at)) return undefined;
  }
}

function copyPackage(source, target) {
  const isShipped = (file) => !UNREAD.test(file) && !relative(source, file).split(sep).includes('node_modules');
  for (const path of FILES[readPackage(source).name] ?? ['.']) copy(join(source, path), join(target, path), isShipped);
}

function copy(source, target, filter) {
  mkdirSync(dirname(target), { recursive: true });
  cpSync(source, target, { recursive: true, dereference: true, filter });
}

function sbomOf(packages) {
  const components = new Map(packages.map((each) => [purlOf(each), each]));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', name: 'leaf-server', version } },
    components: [...components].sort().map(([purl, { name, version, license }]) => ({
      type: 'library',
      'bom-ref': purl,
      name,
      version,
      purl,
      ...(typeof license === 'string' && { licenses: [{ expression: license }] }),
    })),
  };
}

function purlOf({ name, version }) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}
