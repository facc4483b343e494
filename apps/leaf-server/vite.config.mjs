import { join } from 'node:path';
import { defineConfig } from 'vite';

const OUT = join(import.meta.dirname, '../../dist/apps/leaf-server/src');

/** Packages that have native code, or that are loaded only with the settings that need them. */
const EXTERNAL = [/^libsql$/, /^mysql2/, /^pg$/, /^zookeeper$/, /^@opentelemetry\/(?!api$)/];

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
  plugins: [bundleTypeorm()],
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
      external: EXTERNAL,
      checks: { emptyImportMeta: false, ineffectiveDynamicImport: false },
      output: { format: 'cjs', keepNames: true, entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js' },
    },
  },
});
