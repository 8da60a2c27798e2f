# The URLs of the project that django_client.py creates

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from shop.models import Order

urlpatterns = [path("orders/<ulid:id>/", lambda request, id: HttpResponse(get_object_or_404(Order, id=id).body))]
