// Draws each chart from the table below it, so that both say the same. Whatever is drawn can be read there.

const names = {held: 'items held', total: 'total', min: 'least total so far', max: 'most so far', doubted: 'not believed'};

function read(figure) {
  const table = figure.querySelector(':scope > details table');
  const heads = [...table.tHead.rows[0].cells];
  const x = heads.findIndex((h) => h.hasAttribute('data-x'));
  const series = heads.flatMap((h, i) => (h.dataset.series ? [{key: h.dataset.series, at: i}] : []));
  const value = (cell) => (cell && cell.dataset.v !== undefined ? Number(cell.dataset.v) : null);
  const rows = [...table.tBodies[0].rows].sort((a, b) => value(a.cells[x]) - value(b.cells[x]));
  return {series, data: [rows.map((r) => value(r.cells[x])), ...series.map((s) => rows.map((r) => value(r.cells[s.at])))]};
}

const colour = (figure, name) => getComputedStyle(figure).getPropertyValue(name).trim();

function draw(figure) {
  figure.plot?.destroy();
  let place = figure.querySelector(':scope > .plot');
  if (!place) {
    place = document.createElement('div');
    place.className = 'plot';
    place.setAttribute('aria-hidden', 'true'); // the table below is for who cannot see it
    figure.prepend(place);
  }
  const {series, data} = read(figure);
  if (data[0].length < 2) {
    place.remove();
    return;
  }
  const text = colour(figure, '--dim');
  const line = colour(figure, '--line');
  const look = {
    held: {stroke: colour(figure, '--held-line'), width: 2},
    total: {stroke: colour(figure, '--total-line'), width: 1.5, dash: [6, 3]},
    min: {stroke: colour(figure, '--total-line'), width: 0.5},
    max: {stroke: colour(figure, '--total-line'), width: 0.5},
    doubted: {stroke: colour(figure, '--truncated'), width: 0, points: {show: true, size: 5}},
  };
  const index = (key) => series.findIndex((s) => s.key === key) + 1;
  const short = (v) => (v === null ? '' : v >= 1e6 ? +(v / 1e6).toFixed(2) + 'M' : v >= 1e4 ? +(v / 1e3).toFixed(1) + 'k' : String(v));
  const axis = {stroke: text, grid: {stroke: line, width: 1}, ticks: {stroke: line, width: 1}, font: '12px system-ui, sans-serif'};
  const pad = (n) => String(n).padStart(2, '0');
  const two = (t) => pad(t.getUTCHours()) + ':' + pad(t.getUTCMinutes());
  const moments = (u, list) => { // in UTC, as short as the span allows
    const span = u.scales.x.max - u.scales.x.min;
    return list.map((v) => {
      const t = new Date(v * 1000);
      if (span < 10) return pad(t.getUTCSeconds()) + '.' + String(t.getUTCMilliseconds()).padStart(3, '0') + ' s';
      if (span < 600) return two(t) + ':' + pad(t.getUTCSeconds());
      if (span < 36 * 3600) return two(t);
      return t.getUTCFullYear() + '-' + pad(t.getUTCMonth() + 1) + '-' + pad(t.getUTCDate());
    });
  };
  const few = data[0].length < 60;
  figure.plot = new window.uPlot({
    width: Math.max(200, figure.clientWidth), height: 230, tzDate: (s) => window.uPlot.tzDate(new Date(s * 1000), 'Etc/UTC'),
    scales: {y: {range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.05 : 1]}},
    axes: [{...axis, values: moments, space: 90}, {...axis, size: 58, values: (_, list) => list.map(short)}],
    series: [{label: 'at', value: '{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}'},
      ...series.map((s) => ({label: names[s.key], spanGaps: s.key !== 'doubted', points: {show: few && s.key !== 'min' && s.key !== 'max', size: 5},
        value: (_, v) => (v === null ? '' : v.toLocaleString('en-US')), ...look[s.key]}))],
    bands: index('min') && index('max') ? [{series: [index('max'), index('min')], fill: colour(figure, '--band')}] : [],
    cursor: {drag: {x: true, y: false}},
    legend: {live: true},
  }, data, place);
  place.style.height = 'auto'; // set by script, which the policy allows
}

const figures = [...document.querySelectorAll('figure.chart')];
for (const f of figures) {
  draw(f);
  let width = f.clientWidth;
  new ResizeObserver(() => {
    if (f.clientWidth === width || !f.plot) return;
    width = f.clientWidth;
    f.plot.setSize({width: Math.max(200, width), height: 230});
  }).observe(f);
  f.addEventListener('exchanged', () => draw(f));
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => figures.forEach(draw));
