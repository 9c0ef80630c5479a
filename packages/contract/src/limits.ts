/** Limits that the server enforces outside of the schemas. They are apart from the schemas, which a start does not load. */
export const codeRepositoriesMax = 100
/** Days for which comparisons are kept. */
export const shadowDaysMax = 90
export const edgeProjectsMax = 5000
