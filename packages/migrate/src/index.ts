export { type ExportedProject, type ExportFormat, type ExportResult, exportFormats } from './exporters/exported.ts'
export { exporters } from './exporters/exporters.ts'
export { convertersBySource, environmentsBySource } from './importers/converters.ts'
export { parseJson } from './importers/document.ts'
export {
  type Converter,
  type ImportedCohort,
  type ImportedFlag,
  type ImportedProject,
  ImportFileError,
  type ImportItem,
  type ImportOptions,
  type ImportReason,
  type ImportSource,
  type ImportStatus,
  importSources,
  importStatuses,
  sourceIdOf,
} from './model/model.ts'
export { refuseDependents, type Uses, usesOf, usesOfCohort } from './model/refuse-dependents.ts'
export { sdkDocumentOf } from './prove/sdk-documents.ts'
