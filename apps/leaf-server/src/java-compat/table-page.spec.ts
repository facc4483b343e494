import { tablePage } from './table-page';

describe('tablePage', () => {
  it('escapes every value', () => {
    const evil = `<script>alert("1")</script>&'`;
    const page = tablePage(evil, [evil], [[evil, 7]], evil);
    expect(page).not.toContain('<script');
    expect(page.split('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;')).toHaveLength(5);
    expect(page).toContain('<td>7</td>');
  });

  it('links to the console', () => {
    expect(tablePage('db', [], [])).toContain('<a href="/">');
  });
});
