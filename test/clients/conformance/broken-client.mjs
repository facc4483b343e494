// A client that breaks rule 1: each try has a lease of its own. It ends with the first answer.
import { randomBytes } from 'node:crypto';

const [url, token] = process.argv.slice(2);
for (let answered = false; !answered;) {
  const body = JSON.stringify({ lease: randomBytes(16).toString('hex'), holder: 'broken' });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/workers`, { method: 'POST', headers, body }).catch(() => undefined);
  answered = response?.ok === true;
}
