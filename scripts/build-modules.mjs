// Compiles each module of a package to CommonJS and to ESM (*.mjs, *.d.mts). Run by `prepack` in the folder of a package,
// after tsc has checked it and written its declarations.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

const SPECIFIER = /((?:\bfrom|\bimport)\s*\(?\s*)(["'])(\.{1,2}\/[^"']+)\2/g;
const REQUIRE = `import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\n`;

if (process.argv[1] === import.meta.filename) {
  compileModules('.');
  writeTypes('.');
}

/** Writes *.js and *.mjs of a package. Needs no declarations. */
export function compileModules(folder) {
  const { options, files } = modulesOf(folder);
  for (const { file, output } of files) {
    mkdirSync(dirname(output), { recursive: true });
    const source = readFileSync(file, 'utf8');
    // Not `nodenext`, which keeps `import()` in CommonJS: Jest refuses it without --experimental-vm-modules.
    writeFileSync(`${output}.js`, compile(source, file, options, ts.ModuleKind.CommonJS));
    const code = withExtensions(compile(source, file, options, ts.ModuleKind.ESNext), file);
    writeFileSync(`${output}.mjs`, /\brequire\.resolve\(/.test(code) ? REQUIRE + code : code);
  }
}

/** Writes *.d.mts of a package, from *.d.ts. */
export function writeTypes(folder) {
  for (const { file, output } of modulesOf(folder).files) {
    writeFileSync(`${output}.d.mts`, withExtensions(readFileSync(`${output}.d.ts`, 'utf8'), file));
  }
}

function modulesOf(folder) {
  const config = resolve(folder, 'tsconfig.build.json');
  const { options, fileNames } = ts.getParsedCommandLineOfConfigFile(config, {}, ts.sys);
  const outputOf = (file) => join(options.outDir, relative(options.rootDir, file)).replace(/\.ts$/, '');
  return { options, files: fileNames.map((file) => ({ file, output: outputOf(file) })) };
}

function compile(source, fileName, options, module) {
  return ts.transpileModule(source, { fileName, compilerOptions: { ...options, module, esModuleInterop: true } })
    .outputText;
}

/** ESM requires the full name of a file in relative imports. */
function withExtensions(code, file) {
  return code.replace(SPECIFIER, (_, keyword, quote, specifier) => {
    const path = specifier.replace(/\.js$/, '');
    const isFile = existsSync(join(dirname(file), `${path}.ts`));
    return `${keyword}${quote}${path}${isFile ? '' : '/index'}.mjs${quote}`;
  });
}
