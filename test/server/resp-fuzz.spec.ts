import { fuzz } from '../support/resp-fuzz';
import { startTestServer } from '../support/servers/server';

it('any bytes get replies in the order of the commands, and harm no other connection', async () => {
  const { server, stop } = await startTestServer({ LEAF_RESP_PORT: '0' });
  try {
    expect(await fuzz(server.respPort!, 300, 1)).toBeGreaterThan(300);
  } finally {
    await stop();
  }
});
