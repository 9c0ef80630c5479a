import type { ViewMessages } from '../../en/tools/views.en.ts'

const flagCount = (count: string): string => (count === '1' ? '1 Flag' : `${count} Flags`)

export const views: ViewMessages = {
  views: {
    title: 'Gespeicherte Ansichten',
    none: 'Noch keine gespeicherten Ansichten',
    save: 'Diese Ansicht speichern',
    name: 'Name',
    share: 'Mit allen im Projekt teilen',
    shared: 'geteilt',
    saved: name => `Ansicht ${name} gespeichert`,
    remove: name => `Ansicht ${name} löschen`,
    deleted: name => `Ansicht ${name} gelöscht`,
    favorite: 'Favorit',
    favorites: 'Nur Favoriten',
  },
  tagsPage: {
    title: 'Tags',
    intro: 'Benenne ein Tag auf allen Flags um, die du bearbeiten kannst, führe Tags zusammen oder entferne sie.',
    none: 'Noch keine Tags',
    noneText: 'Tags, die du Flags gibst, erscheinen hier.',
    tag: 'Tag',
    flags: 'Flags',
    rename: 'Umbenennen',
    renameTitle: tag => `Tag ${tag} umbenennen`,
    newName: 'Neuer Name',
    mergeHint: 'Mit dem Namen eines anderen Tags werden beide zusammengeführt.',
    remove: 'Entfernen',
    removeQuestion: (tag, count) => `Das Tag ${tag} von ${flagCount(count)} entfernen?`,
    done: count => `${flagCount(count)} geändert`,
    failed: count => (count === '1' ? '1 Flag wurde nicht geändert' : `${count} Flags wurden nicht geändert`),
  },
}
