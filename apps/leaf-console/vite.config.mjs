import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import preact from '@preact/preset-vite';
import { defineConfig } from 'vite';
import { bundledPackages } from '../../scripts/bundled-packages.mjs';

const OUT = join(import.meta.dirname, '../../dist/apps/leaf-console/site');

/** Writes a .br and a .gz file next to every text file, so that the server never compresses. */
function precompress() {
  return {
    name: 'precompress',
    apply: 'build',
    closeBundle() {
      const files = readdirSync(OUT, { recursive: true, withFileTypes: true });
      for (const file of files.filter(({ name }) => /\.(html|js|css|svg)$/.test(name))) {
        const path = join(file.parentPath, file.name);
        const content = readFileSync(path);
        writeFileSync(`${path}.br`, brotliCompressSync(content));
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  // Relative, so that a proxy can serve the console under a path prefix.
  base: './',
  plugins: [preact(), precompress(), bundledPackages(join(OUT, '../packages.json'))],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2022',
    // The content security policy allows data: URLs for images only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8080' } },
});
