import { join } from 'node:path';
import { defineConfig } from 'vite';
import { bundledPackages } from '../../scripts/bundled-packages.mjs';
import { EXTERNALS } from './externals.mjs';

const OUT = join(import.meta.dirname, '../../dist/apps/leaf-server/src');

/** Without it, @nestjs/typeorm would load a second copy of TypeORM from node_modules. */
function bundleTypeorm() {
  return {
    name: 'bundle-typeorm',
    transform: {
      filter: { id: /@nestjs\/typeorm\/dist\/common\/typeorm-compat\.js$/ },
      handler: (code) => code.replace('const require = createRequire(import.meta.url);', ''),
    },
  };
}

export default defineConfig({
  root: join(import.meta.dirname, '../..'),
  plugins: [bundleTypeorm(), bundledPackages(join(OUT, '../packages.json'))],
  resolve: { tsconfigPaths: true },
  ssr: { noExternal: true, target: 'node' },
  build: {
    ssr: true,
    outDir: OUT,
    emptyOutDir: false,
    target: 'node20',
    minify: false,
    rolldownOptions: {
      input: join(import.meta.dirname, 'src/main.ts'),
      external: EXTERNALS.map((name) => new RegExp(`^${name}(/|$)`)),
      checks: { emptyImportMeta: false, ineffectiveDynamicImport: false },
      output: { format: 'cjs', keepNames: true, entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js' },
    },
  },
});
