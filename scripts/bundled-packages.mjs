import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the package that a module belongs to. */
const FOLDER = /^\0*(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/** A plugin of Vite that writes the packages of which a bundle contains code to `file`, for the list of the image. */
export function bundledPackages(file) {
  return {
    name: 'bundled-packages',
    apply: 'build',
    writeBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap(({ moduleIds = [] }) => moduleIds);
      const folders = new Set(modules.flatMap((id) => FOLDER.exec(id)?.[1] ?? []));
      const packages = [...folders].map(readPackage).filter(({ name, version }) => name && version);
      writeFileSync(file, JSON.stringify(packages.sort((a, b) => (a.name < b.name ? -1 : 1))));
    },
  };
}

/** Name, version and license of the package in a folder. */
export function readPackage(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return { name, version, license };
}
