import { runMain } from '../support/servers/run-main';
import { makeFixture } from './fixture';

const [name = '', root = '', ...only] = process.argv.slice(2);
runMain(() => makeFixture(name, root, only, (line) => console.log(line)));
