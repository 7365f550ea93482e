"use strict";

// The page asks nobody but the server that it came from, so there is no validator
// of others, and the description is the one of the page, whatever its address says.
const place = document.getElementById("description");
SwaggerUIBundle({
	url: place.dataset.url,
	domNode: place,
	deepLinking: true,
	validatorUrl: null,
	queryConfigEnabled: false,
	presets: [SwaggerUIBundle.presets.apis],
	layout: "BaseLayout",
});
