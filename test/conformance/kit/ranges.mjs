/**
 * The IDs that the scripted servers give for tags, and those that the client issued. Each grant has `from`, `to` and, if
 * its IDs must not be issued, `forbidden`: the rule that forbids them.
 */
export class Ranges {
  grants = [];
  calls = [];
  next = new Map();

  /** The next `size` IDs of the tag. */
  take(name, size) {
    const from = this.next.get(name) ?? 1n;
    this.next.set(name, from + BigInt(size));
    return { from, to: from + BigInt(size) - 1n };
  }

  /**
   * A right answer with new IDs. With `forbidden` it is one that the client must not use, because of `more` or of what the
   * script does to it.
   */
  answer(request, { forbidden, order, period, ...more } = {}) {
    const name = nameOf(request.tag, period);
    const range = this.take(name, request.size);
    return this.answerWith(request, [range], { forbidden, order, period, ...more });
  }

  answerWith(request, ranges, { forbidden, order, period, ...more } = {}) {
    const grant = { name: nameOf(request.tag, period), ranges, forbidden, request };
    if (more.lose === true) grant.forbidden ??= 'delivered';
    this.grants.push(grant);
    const texts = ranges.map(({ from, to }) => ({ from: String(from), to: String(to) }));
    return {
      json: { tag: request.tag, ...(order && { order }), ...(period && { period }), ranges: texts },
      grant,
      ...more,
    };
  }

  /** IDs of one call, as runs of first ID and count. */
  record(name, runs, { sentAt, answeredAt }) {
    this.calls.push({ name, runs, sentAt, answeredAt });
  }

  /** @param duplicates the rule that IDs issued twice break */
  check(check, duplicates = 'unique') {
    const runs = this.calls.flatMap((call) =>
      call.runs.map(([first, count]) => ({ call, first, last: first + count - 1n })),
    );
    for (const name of new Set(runs.map(({ call }) => call.name))) {
      const own = runs.filter(({ call }) => call.name === name);
      own.sort((a, b) => (a.first < b.first ? -1 : 1));
      const twice = own.find(({ first }, index) => index > 0 && first <= own[index - 1].last);
      check(twice === undefined, duplicates, `${twice?.first} of ${name} was issued twice`);
      for (const run of own) this.checkGrant(check, name, run);
    }
  }

  checkGrant(check, name, { first, last }) {
    for (let id = first; id <= last;) {
      const holders = this.grants.filter((each) => each.name === name && rangeWith(each, id) !== undefined);
      const grant = holders.find(({ forbidden, at }) => forbidden === undefined && at !== undefined) ?? holders[0];
      const isRight = grant?.forbidden === undefined && grant?.at !== undefined;
      check(
        isRight,
        grant?.forbidden ?? 'delivered',
        `${id} of ${name} was issued, but is not of an answer to be used`,
      );
      if (!isRight) return;
      id = rangeWith(grant, id).to + 1n;
    }
  }

  /** The grant of each ID, with the call that issued it. */
  *issued(name) {
    for (const call of this.calls) {
      if (call.name !== name) continue;
      for (const [first, count] of call.runs) {
        for (let id = first; id < first + count; id++) {
          yield { id, call, grant: this.grants.find((each) => each.name === name && rangeWith(each, id)) };
        }
      }
    }
  }
}

function rangeWith({ ranges }, id) {
  return ranges.find(({ from, to }) => from <= id && id <= to);
}

function nameOf(tag, period) {
  return period === undefined ? tag : `${tag}@${period}`;
}
