/**
 * The packages that applications install. `parts` are folders of this repository whose code goes into the package; the
 * first one has its entry. What the code imports has to be named here, and what is named has to be used: the versions are
 * those of this repository's own package.json.
 *
 * `loaded` are optional peers that another package loads by name, so that no import names them.
 *
 * @typedef {object} Package
 * @property {string} name
 * @property {string} description
 * @property {string[]} parts
 * @property {string[]} [subpaths] files beside the entry that are imported as `<name>/<subpath>`
 * @property {string[]} [dependencies] other packages of this list, and packages that no application has by itself
 * @property {string[]} [peers] what an application has already, and has to share
 * @property {string[]} [optionalPeers] what an application needs for some features only
 * @property {string[]} [loaded]
 */

/** @type {Package[]} */
export const PACKAGES = [
  {
    name: '@leaf/core',
    description: 'Leaf: the IdService port, ID formats and the algorithms behind them, on Node.js alone',
    parts: ['libs/core'],
  },
  {
    name: '@leaf/orm',
    description: 'Leaf: primary keys of TypeORM entities, filled before every insert',
    parts: ['libs/orm'],
    dependencies: ['@leaf/core'],
    peers: ['@nestjs/common', 'reflect-metadata', 'typeorm'],
  },
  {
    name: '@leaf/id',
    description: 'Leaf: unique 64-bit IDs inside of a NestJS application, from its own database',
    parts: ['libs/id', 'libs/persistence', 'libs/registry', 'libs/segment', 'libs/snowflake', 'migrations'],
    dependencies: ['@leaf/core'],
    peers: ['@nestjs/common', '@nestjs/schedule', 'typeorm'],
    optionalPeers: ['libsql', 'mysql2'],
    loaded: ['pg', 'prom-client', 'zookeeper'],
  },
  {
    name: '@leaf/client',
    description: 'Leaf: the IdService over HTTP, with IDs fetched ahead',
    parts: ['libs/client'],
    subpaths: ['plain'],
    dependencies: ['@leaf/core', 'undici'],
    optionalPeers: ['@nestjs/common'],
  },
];
