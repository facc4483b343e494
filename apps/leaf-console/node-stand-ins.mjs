/** What libs/core imports from Node.js. The page uses none of it: networkInterfaces() is the default of a parameter. */
const NAMES = [
  ...['Agent', 'createCipheriv', 'dirname', 'existsSync', 'hkdfSync', 'join', 'networkInterfaces', 'open'],
  ...['readFileSync', 'rename', 'request', 'setMaxListeners'],
];
const STAND_IN = '\0node-stand-ins';

/** Replaces the modules of Node.js that libs/core imports, which do not exist in a browser. */
export function nodeStandIns() {
  return {
    name: 'node-stand-ins',
    enforce: 'pre',
    resolveId: (id) => (id.startsWith('node:') ? STAND_IN : undefined),
    load: (id) =>
      id === STAND_IN
        ? { code: `export const ${NAMES.map((name) => `${name} = undefined`).join(', ')};`, moduleSideEffects: false }
        : undefined,
  };
}
