// Loaded into a process ahead of its program: at SIGUSR2 it writes what the process holds to the file LEAF_PROBE_FILE,
// once all garbage is gone. Not a line of the program knows of it.
'use strict';
const { EventEmitter } = require('node:events');
const { readdirSync, renameSync, writeFileSync } = require('node:fs');
const { Session } = require('node:inspector');

const timer = setTimeout(() => undefined, 0);
clearTimeout(timer);
const Timeout = timer.constructor;

process.on('SIGUSR2', () => {
  const file = process.env.LEAF_PROBE_FILE;
  writeFileSync(`${file}.new`, JSON.stringify(look()));
  renameSync(`${file}.new`, file);
});

function look() {
  const session = new Session();
  session.connect();
  try {
    const [emitters, listeners] = ofAll(session, EventEmitter, countListeners);
    const timers = ofAll(session, Timeout, countTimers);
    const promises = ofAll(session, Promise, count);
    const { heapUsed, rss } = process.memoryUsage();
    return {
      heapBytes: heapUsed,
      residentBytes: rss,
      descriptors: readdirSync('/proc/self/fd').length,
      handles: process.getActiveResourcesInfo().filter((name) => name !== 'Timeout').length,
      timers,
      emitters,
      listeners,
      promises,
    };
  } finally {
    session.disconnect();
  }
}

/** What `read` makes of the array of all objects of a class that can still be reached; collects garbage first. */
function ofAll(session, type, read) {
  let answer;
  const post = (method, parameters, then) =>
    session.post(method, { ...parameters, objectGroup: 'probe' }, (error, result) => {
      if (error) throw new Error(`${method}: ${error.message}`);
      then(result);
    });
  globalThis.probedPrototype = type.prototype;
  post('Runtime.evaluate', { expression: 'globalThis.probedPrototype' }, ({ result: { objectId } }) =>
    post('Runtime.queryObjects', { prototypeObjectId: objectId }, ({ objects }) =>
      post(
        'Runtime.callFunctionOn',
        { objectId: objects.objectId, functionDeclaration: read.toString(), returnByValue: true },
        ({ result, exceptionDetails }) => {
          if (exceptionDetails) throw new Error(result.description);
          answer = result.value;
        },
      ),
    ),
  );
  delete globalThis.probedPrototype;
  session.post('Runtime.releaseObjectGroup', { objectGroup: 'probe' });
  return answer;
}

// The engine runs these on the array, from their text: they can use nothing from outside.

function count() {
  return this.length;
}

function countTimers() {
  return this.filter((timeout) => timeout._destroyed === false).length;
}

function countListeners() {
  let listeners = 0;
  for (const { _events: events } of this) {
    for (const key of events === undefined || events === null ? [] : Reflect.ownKeys(events)) {
      const held = events[key];
      if (held !== undefined) listeners += typeof held === 'function' ? 1 : held.length;
    }
  }
  return [this.length, listeners];
}
