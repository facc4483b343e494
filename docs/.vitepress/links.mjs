import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** The pages outside of docs, bench and examples. */
const ROOT_PAGES = {
  'README.md': 'introduction.md',
  'README.zh.md': 'zh/introduction.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security-policy.md',
};

/** The page of the site that a Markdown file of the repository becomes. */
export function pageOf(source) {
  return ROOT_PAGES[source] ?? source.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md');
}

const isPage = (source) => source in ROOT_PAGES || /^(docs|bench|examples)\/.*\.md$/.test(source);

/** The anchor of a heading, as GitHub makes it. */
export function slugOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

/** A file that is not a page, such as a source: links lead to a copy of it. */
const copyOf = (source) => `files/${source}.txt`;

/**
 * Makes relative links lead to pages of the site, adds the other files that they name to `linkedFiles`, and refuses HTML,
 * which GitHub and the site would show differently.
 */
export function plainMarkdown(md, linkedFiles) {
  md.core.ruler.after('inline', 'links of the repository', ({ tokens, env }) => {
    const folder = posix.dirname(relative(ROOT, env.realPath ?? env.path));
    for (const { children } of tokens) if (children) resolveLinks(children, folder, linkedFiles);
  });
  for (const rule of ['html_inline', 'html_block'])
    md.renderer.rules[rule] = (tokens, index, options, env) => {
      const { content } = tokens[index];
      if (content.trimStart().startsWith('<!--')) return '';
      if (!content.includes('<')) return content;
      throw new Error(`${env.realPath ?? env.path}: put HTML into backticks: ${content.trim()}`);
    };
}

function resolveLinks(tokens, folder, linkedFiles) {
  for (const [index, token] of tokens.entries()) {
    const href = token.type === 'link_open' ? token.attrGet('href') : null;
    if (href === null || /^([a-z]+:|#|\/)/i.test(href)) continue;
    const [path, hash] = decodeURI(href).split('#');
    const source = posix.join(folder, path);
    if (!existsSync(join(ROOT, source))) throw new Error(`Dead link in ${folder}: ${href}`);
    if (isPage(source)) token.attrSet('href', `/${pageOf(source)}${hash === undefined ? '' : `#${hash}`}`);
    else if (statSync(join(ROOT, source)).isDirectory()) {
      const end = tokens.findIndex(({ type }, later) => later > index && type === 'link_close');
      for (const one of [token, tokens[end]]) Object.assign(one, { type: 'text', tag: '', nesting: 0, content: '' });
    } else {
      linkedFiles.add(source);
      token.attrSet('href', `/${copyOf(source)}`);
    }
  }
}

export function copyFiles(linkedFiles, outDir) {
  for (const source of linkedFiles) {
    const copy = join(outDir, copyOf(source));
    mkdirSync(dirname(copy), { recursive: true });
    cpSync(join(ROOT, source), copy);
  }
}

/** VitePress checks that the page of a link exists, but not its heading, nor other files. */
export function checkAnchors(outDir, base) {
  const files = readdirSync(outDir, { recursive: true });
  const pages = new Map(
    files.filter((file) => file.endsWith('.html')).map((file) => [`${base}${file}`, read(outDir, file)]),
  );
  const dead = [...pages].flatMap(([page, { links }]) =>
    links
      .filter(({ path, hash }) => {
        const target = path === '' ? page : path.endsWith('/') ? `${path}index.html` : path;
        const found = pages.get(target);
        return found === undefined ? !files.includes(target.slice(base.length)) : hash !== '' && !found.ids.has(hash);
      })
      .map(({ path, hash }) => `${page}: ${path}${hash === '' ? '' : `#${hash}`}`),
  );
  if (dead.length > 0) throw new Error(`Dead links:\n${dead.join('\n')}`);
}

function read(outDir, file) {
  const html = readFileSync(join(outDir, file), 'utf8').replaceAll('&amp;', '&');
  return {
    ids: new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)),
    links: [...html.matchAll(/ href="(\/[^"#]*|)(?:#([^"]*))?"/g)].map(([, path, hash = '']) => ({
      path,
      hash: decodeURIComponent(hash),
    })),
  };
}
