// Stands in the bundle for what is loaded there and never used (`build.mjs`).
module.exports = {}
