// The documentation as static pages: `npm run docs:build` writes them to docs/.vitepress/dist, and fails for a dead link.
// The same files are read on GitHub, so links are relative to their file, and README.md is the index of its folder.
import { basename } from 'node:path';
import { defineConfig } from 'vitepress';
import { checkAnchors, copyFiles, pageOf, plainMarkdown, ROOT, slugOf } from './links.mjs';
import { sidebarOf } from './sidebar.mjs';

/** Each Chinese character is a word of the index, because Chinese text has no spaces. Runs in the browser, too. */
const tokenize = (text) => text.match(/\p{Script=Han}|[^\s\p{P}\p{S}\p{Script=Han}]+/gu) ?? [];

const linkedFiles = new Set();

export default defineConfig({
  title: 'Leaf',
  description: 'Distributed ID service: segment and snowflake IDs, unique or refused',
  srcDir: ROOT,
  srcExclude: ['!(docs|bench|examples)/**/*'],
  cacheDir: `${import.meta.dirname}/node_modules/.cache`,
  rewrites: pageOf,
  locales: {
    root: {
      label: 'English',
      lang: 'en',
      themeConfig: {
        nav: [
          { text: 'Quick start', link: '/quick-start' },
          { text: 'Configuration', link: '/configuration' },
          { text: 'HTTP API', link: '/http-api' },
          { text: 'Changes', link: '/changelog' },
        ],
        sidebar: sidebarOf('docs/README.md'),
      },
    },
    zh: {
      label: '简体中文',
      lang: 'zh-CN',
      description: '分布式 ID 服务：号段模式与雪花算法，要么唯一，要么拒绝',
      themeConfig: {
        nav: [
          { text: '快速开始', link: '/zh/quick-start' },
          { text: '配置', link: '/zh/configuration' },
          { text: '从 Java 版迁移', link: '/zh/moving-from-java-leaf' },
        ],
        sidebar: sidebarOf('docs/zh/README.md'),
        outline: { label: '本页目录' },
        docFooter: { prev: '上一页', next: '下一页' },
        langMenuLabel: '语言',
        returnToTopLabel: '返回顶部',
        sidebarMenuLabel: '目录',
        darkModeSwitchLabel: '外观',
        lightModeSwitchTitle: '切换到浅色模式',
        darkModeSwitchTitle: '切换到深色模式',
        skipToContentLabel: '跳转到内容',
        notFound: { title: '页面不存在', quote: '', linkText: '返回首页', linkLabel: '返回首页' },
      },
    },
  },
  themeConfig: {
    // Not every page has a translation: the language menu leads to the index.
    i18nRouting: false,
    search: {
      provider: 'local',
      options: {
        miniSearch: { options: { tokenize }, searchOptions: { combineWith: 'AND' } },
        locales: {
          zh: {
            translations: {
              button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
              modal: {
                displayDetails: '显示详细列表',
                resetButtonTitle: '清除',
                backButtonTitle: '关闭',
                noResultsText: '没有结果',
                footer: { selectText: '选择', navigateText: '切换', closeText: '关闭' },
              },
            },
          },
        },
      },
    },
  },
  markdown: { anchor: { slugify: slugOf }, config: (md) => plainMarkdown(md, linkedFiles) },
  transformPageData: (data) => {
    if (data.title === '') data.title = basename(data.filePath, '.md');
  },
  buildEnd: ({ outDir, site }) => {
    copyFiles(linkedFiles, outDir);
    checkAnchors(outDir, site.base);
  },
});
