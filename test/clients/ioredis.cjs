const { Redis } = require('ioredis');
const takeIds = require('./take-ids.cjs');

const [port, tag, count] = process.argv.slice(2);
const client = new Redis({ port: Number(port), host: '127.0.0.1' });
client.on('error', () => undefined);
takeIds(() => client.incr(tag), Number(count)).then(() => client.quit());
