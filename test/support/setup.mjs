// npm run test:setup [-- --engines --clients --deploy --proof]: compiles and runs setup.ts.
import { runTypescript } from '../../scripts/run-typescript.mjs';

runTypescript('test/support/setup', ['test/support'], process.argv.slice(2));
