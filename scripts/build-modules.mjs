// Run by `prepack` in the folder of a package, after tsc has checked it and written its declarations: compiles each
// module to CommonJS and to ESM (*.mjs, *.d.mts).
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

const SPECIFIER = /((?:\bfrom|\bimport)\s*\(?\s*)(["'])(\.{1,2}\/[^"']+)\2/g;
const REQUIRE = `import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\n`;

const { options, fileNames } = ts.getParsedCommandLineOfConfigFile('tsconfig.build.json', {}, ts.sys);

for (const file of fileNames) {
  const output = join(options.outDir, relative(options.rootDir, file)).replace(/\.ts$/, '');
  // Not `nodenext`, which keeps `import()` in CommonJS: Jest refuses it without --experimental-vm-modules.
  writeFileSync(`${output}.js`, compile(file, ts.ModuleKind.CommonJS));
  const code = withExtensions(compile(file, ts.ModuleKind.ESNext), file);
  writeFileSync(`${output}.mjs`, /\brequire\.resolve\(/.test(code) ? REQUIRE + code : code);
  writeFileSync(`${output}.d.mts`, withExtensions(readFileSync(`${output}.d.ts`, 'utf8'), file));
}

function compile(file, module) {
  const compilerOptions = { ...options, module, esModuleInterop: true };
  return ts.transpileModule(readFileSync(file, 'utf8'), { fileName: file, compilerOptions }).outputText;
}

/** ESM requires the full name of a file in relative imports. */
function withExtensions(code, file) {
  return code.replace(SPECIFIER, (_, keyword, quote, specifier) => {
    const path = specifier.replace(/\.js$/, '');
    const isFile = existsSync(join(dirname(file), `${path}.ts`));
    return `${keyword}${quote}${path}${isFile ? '' : '/index'}.mjs${quote}`;
  });
}
