import { runMain } from '../support/servers/run-main';
import { makeFixture } from './fixture';

const [name = '', root = ''] = process.argv.slice(2);
runMain(() => makeFixture(name, root, (line) => console.log(line)));
