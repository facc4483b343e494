import commonjs from '@rollup/plugin-commonjs';
import resolve from '@rollup/plugin-node-resolve';

/** Bundles Leaf; everything else stays a package, as in a server. */
export default {
  external: (id) => !/^(\.|\/|@leaf-ids\/)/.test(id),
  plugins: [resolve({ preferBuiltins: true }), commonjs()],
  output: { inlineDynamicImports: true },
};
