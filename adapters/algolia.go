package adapters

// algoliaDefaults makes a page style that counts from 0 and has the names of
// Algolia's search API, where the spec leaves them empty. A number of pages is
// no end there: nbPages is cut to what can be reached.
func algoliaDefaults(s *Spec) {
	fillIn(&s.Pages.NumberParam, "page")
	fillIn(&s.Pages.SizeParam, "hitsPerPage")
	fillIn(&s.Items.Path, "hits")
	if s.Pages.LastHeader == "" {
		fillIn(&s.Pages.LastPath, "nbPages")
	}
	if t := &s.Total; t.Header == "" && t.URL == "" && !t.None {
		fillIn(&t.Path, "nbHits")
	}
}

// fillIn gives a setting that is empty its default.
func fillIn(setting *string, value string) {
	if *setting == "" {
		*setting = value
	}
}
