/** Messages of saved views, favorites and tags. */
export const views = {
  views: {
    title: 'Saved views',
    none: 'No saved views yet',
    save: 'Save this view',
    name: 'Name',
    share: 'Share with everyone in the project',
    shared: 'shared',
    saved: (name: string) => `View ${name} saved`,
    remove: (name: string) => `Delete view ${name}`,
    deleted: (name: string) => `View ${name} deleted`,
    favorite: 'Favorite',
    favorites: 'Favorites only',
  },
  tagsPage: {
    title: 'Tags',
    intro: 'Rename, merge or remove a tag on all flags that you can edit.',
    none: 'No tags yet',
    noneText: 'Tags that you add to flags appear here.',
    tag: 'Tag',
    flags: 'Flags',
    rename: 'Rename',
    renameTitle: (tag: string) => `Rename tag ${tag}`,
    newName: 'New name',
    mergeHint: 'A name that another tag has merges both.',
    remove: 'Remove',
    removeQuestion: (tag: string, count: string) =>
      count === '1' ? `Remove the tag ${tag} from 1 flag?` : `Remove the tag ${tag} from ${count} flags?`,
    done: (count: string) => (count === '1' ? '1 flag changed' : `${count} flags changed`),
    failed: (count: string) => (count === '1' ? '1 flag was not changed' : `${count} flags were not changed`),
  },
}

export type ViewMessages = typeof views
