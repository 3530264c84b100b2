// Notes on Feathers and NeDB, which do all the paging.
// usage: node feathers.js MODULES FILE PORT ROWS
// /notes grants pages of at most 50, /bare does not page by itself.
const [modules, file, port, rows] = process.argv.slice(2);
const need = require('module').createRequire(modules + '/package.json');
const { feathers } = need('@feathersjs/feathers');
const express = need('@feathersjs/express');
const { NeDBService } = need('feathers-nedb');
const Store = need('@seald-io/nedb');

async function main() {
  const Model = new Store({ filename: file, autoload: true });
  await Model.insertAsync(Array.from({ length: Number(rows) }, (_, i) => ({
    _id: `note-${String(i + 1).padStart(5, '0')}`, text: `note ${i + 1}`, colour: (i + 1) % 5,
  })));
  const app = express(feathers());
  app.use(express.json());
  app.configure(express.rest());
  app.use('/notes', new NeDBService({ id: '_id', Model, paginate: { default: 20, max: 50 } }));
  app.use('/bare', new NeDBService({ id: '_id', Model }));
  app.use(express.notFound());
  app.use(express.errorHandler({ logger: false, html: false }));
  await app.listen(Number(port), '127.0.0.1');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
