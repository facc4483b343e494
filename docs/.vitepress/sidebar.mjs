import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { pageOf, ROOT } from './links.mjs';

/** One group for each section of an index page, with the links of its table. */
export function sidebarOf(index) {
  const [, ...sections] = readFileSync(`${ROOT}/${index}`, 'utf8').split(/^## /m);
  return sections.map((section) => {
    const links = new Map();
    for (const [, text, target] of section.matchAll(/\[([^\]]+)\]\(([^)#:]+)[^)]*\)/g)) {
      const source = posix.join(posix.dirname(index), target);
      if (!links.has(source))
        links.set(source, {
          text: titleOf(text),
          link: `/${pageOf(source).replace(/(index)?\.md$/, '')}`,
        });
    }
    return { text: section.split('\n', 1)[0], items: [...links.values()] };
  });
}

function titleOf(text) {
  return text[0].toUpperCase() + text.slice(1).replaceAll('`', '');
}
