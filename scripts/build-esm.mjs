// Run by `prepack` in the folder of a package, after tsc has compiled it to CommonJS: adds the same modules as ESM
// (*.mjs, *.d.mts), because bundlers and test runners cannot turn a `require` of a CommonJS module into an import.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

const SPECIFIER = /((?:\bfrom|\bimport)\s*\(?\s*)(["'])(\.{1,2}\/[^"']+)\2/g;
const REQUIRE = `import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\n`;

const { options, fileNames } = ts.getParsedCommandLineOfConfigFile('tsconfig.build.json', {}, ts.sys);

for (const file of fileNames) {
  const output = join(options.outDir, relative(options.rootDir, file)).replace(/\.ts$/, '');
  const compilerOptions = { ...options, module: ts.ModuleKind.ESNext };
  const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), { fileName: file, compilerOptions });
  const code = withExtensions(outputText, file);
  writeFileSync(`${output}.mjs`, /\brequire\.resolve\(/.test(code) ? REQUIRE + code : code);
  writeFileSync(`${output}.d.mts`, withExtensions(readFileSync(`${output}.d.ts`, 'utf8'), file));
}

/** ESM requires the full name of a file in relative imports. */
function withExtensions(code, file) {
  return code.replace(SPECIFIER, (_, keyword, quote, path) => {
    const isFile = existsSync(join(dirname(file), `${path}.ts`));
    return `${keyword}${quote}${path}${isFile ? '' : '/index'}.mjs${quote}`;
  });
}
