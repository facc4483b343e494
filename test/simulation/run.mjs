// node test/simulation/run.mjs [options]
// Compiles the simulation and the libraries with the compiler and options of the product's build, and runs it in plain
// node: no loader stands between it and its speed.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '../..');
const out = join(root, 'node_modules/.cache/leaf-simulation/js');

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function compile() {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  // transpileModule does not look for the package.json that makes `nodenext` emit CommonJS.
  const compilerOptions = { ...options, module: ts.ModuleKind.CommonJS, esModuleInterop: true, sourceMap: false };
  const sources = ['test/simulation', 'libs/core'];
  for (const file of ts.sys.readDirectory(root, ['.ts'], ['**/*.spec.ts', '**/*.d.ts'], sources)) {
    const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), { fileName: file, compilerOptions });
    write(join(out, relative(root, file)).replace(/\.ts$/, '.js'), outputText);
  }
  const main = relative(join(out, 'node_modules/@leaf/core'), join(out, 'libs/core/src/index.js'));
  write(join(out, 'node_modules/@leaf/core/package.json'), JSON.stringify({ name: '@leaf/core', main }));
}

compile();
const child = spawn(process.execPath, [join(out, 'test/simulation/run.js'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
// Control-C reaches the child by itself; this process ends with it.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('exit', (code) => process.exit(code ?? 1));
