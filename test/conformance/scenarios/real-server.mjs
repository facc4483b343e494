import { PROCESSING_MS } from '../kit/windows.mjs';
import { refusal } from '../kit/scripted-server.mjs';
import { WINDOW_MS } from '../kit/options.mjs';

const isPost = ({ method }) => method === 'POST';
const isPut = ({ method }) => method === 'PUT';

/** The requests pass through the kit, which loses, refuses and counts them. */
export function realServer(url) {
  return {
    async 'worker windows of a real server'(t) {
      let mode = 'lose';
      await t.server(async (request) => {
        if (mode === 'refuse') return refusal(503, 'LEAF_NOT_READY', 1);
        if (mode === 'end') {
          mode = 'answer';
          return t.windows.end(409, 'LEAF_LEASE_LOST', request.lease);
        }
        const lose = mode === 'lose' && t.requests.length < 3;
        return forward(t, url, request, { lose });
      });
      const driver = await t.startWindow();
      await t.ready(driver);
      mode = 'answer';
      await t.snowflake(driver, 1000);
      const put = await t.answered('extend', 'a PUT', isPut, 1, WINDOW_MS);
      mode = 'refuse';
      const { refused } = await t.runSnowflake(driver, { ms: WINDOW_MS + 3 * PROCESSING_MS });
      t.check(put !== undefined && refused.LEAF_LEASE_EXPIRED > 0, 'window', 'not refused after the window');
      mode = 'answer';
      await t.ready(driver);
      await t.snowflake(driver, 1000);
      await t.until('extend', 'a PUT after the outage', () => t.windows.newest.until > Date.now() + WINDOW_MS / 2);
      mode = 'end';
      await t.answered('lost', 'a POST of another lease', isPost, 2, 2 * WINDOW_MS);
      await t.ready(driver);
      await t.snowflake(driver, 1000);
      const leases = new Set(t.requests.filter(isPost).map(({ lease }) => lease));
      t.check(leases.size === 2, 'lease', `${leases.size} leases in two terms`);
    },
  };
}

async function forward(t, url, { method, path, headers, body, lease }, more) {
  const { authorization } = headers;
  const sent = { method, headers: { authorization, ...(body && { 'content-type': 'application/json' }) } };
  const response = await fetch(new URL(path, url), { ...sent, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  const answer = { status: response.status, json: text === '' ? undefined : JSON.parse(text), ...more };
  if (response.ok && answer.json !== undefined) {
    answer.grant = { ...answer.json, lease, lost: more.lose };
    t.windows.grants.push(answer.grant);
  }
  return answer;
}
