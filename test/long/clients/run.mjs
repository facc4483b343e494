// node test/long/clients/run.mjs --clients node,java,go,python --processes 8 --minutes 30: processes of all clients on one
// registry, under faults. `--command '<driver>'` adds a driver of your own; it may be given several times.
import { parseArgs } from 'node:util';
import { build, driverOf, NAMES } from '../../conformance/clients.mjs';
import { runTypescript } from '../../../scripts/run-typescript.mjs';

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: NAMES.join(',') },
    command: { type: 'string', multiple: true, default: [] },
    processes: { type: 'string', default: '8' },
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    server: { type: 'string' },
  },
});
const { clients, command, ...others } = values;
const commands = {};
for (const client of clients.split(',').filter(Boolean)) {
  build(client);
  commands[client] = driverOf(client);
}
command.forEach((words, index) => (commands[`command-${index}`] = words.split(' ')));
const SOURCES = ['test/long/clients', 'test/support', 'libs', 'migrations'];
const options = Object.entries(others).flatMap(([name, value]) => [`--${name}`, value]);
runTypescript('test/long/clients/run', SOURCES, ['--commands', JSON.stringify(commands), ...options]);
